/* software/pycryptodome/: what is not PyCryptodome is refused softly. Where it is installed, the
 * Python tests compare it with an oracle (tests/test_sources.py). */
#include <stdlib.h>
#include <unistd.h>

#include "cryptodispatch/pycryptodome.h"
#include "test_support.h"

static bool count_all(const struct cd_implementation *implementation, void *context) {
    (void)implementation;
    ++*(size_t *)context;
    return true;
}

static void check_refused(const char *folder) {
    struct cd_registry *registry;
    struct cd_pycryptodome *none = NULL;
    struct cd_error error = {""};
    size_t count = 0;

    CHECK_EQ(cd_registry_new(&registry), CD_OK);
    CHECK_EQ(cd_pycryptodome_new(&none, registry, folder, &error), CD_E_UNAVAILABLE);
    CHECK_EQ(cd_pycryptodome_new(&none, registry, folder, NULL), CD_E_UNAVAILABLE);
    CHECK(none == NULL && strstr(error.message, "PyCryptodome") != NULL);
    cd_registry_each(registry, count_all, &count);
    CHECK_EQ(count, 0);
    cd_registry_free(registry);
}

static void folders_without_the_modules_are_refused(void) {
    static char deep[8192];

    memset(deep, 'x', sizeof deep - 1);
    check_refused("");
    check_refused("/nowhere");
    check_refused(deep);
    cd_pycryptodome_free(NULL);
}

static void files_that_are_no_libraries_are_refused(void) {
    char folder[] = "/tmp/test_pycryptodome_XXXXXX", path[128];
    FILE *file;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/_raw_aes.abi3.so", folder);
    file = fopen(path, "w");
    CHECK(file != NULL && fputs("no library\n", file) >= 0 && fclose(file) == 0);
    check_refused(folder);
    CHECK(unlink(path) == 0 && rmdir(folder) == 0);
}

int main(void) {
    RUN(folders_without_the_modules_are_refused);
    RUN(files_that_are_no_libraries_are_refused);
    return test_end();
}
