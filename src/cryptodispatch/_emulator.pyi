from typing import Any, TypeAlias, type_check_only

import _cffi_backend

_CData: TypeAlias = Any  # its attributes are those of the C structure

@type_check_only
class _Library:
    CD_EIP93_93I: int
    CD_EIP93_93IE: int
    CD_EIP93_93IS: int
    CD_EIP93_93IES: int
    CD_EIP93_93IW: int
    CD_EIP93_FREE: int
    CD_EIP93_PACED: int
    CD_EIP93_VIRTUAL: int
    CD_EIP93_MEMORY_BASE: int
    CD_EIP93_WINDOW_BASE: int
    CD_DMA_TO_DEVICE: int
    CD_DMA_FROM_DEVICE: int
    CD_DMA_BIDIRECTIONAL: int
    CD_EIP93_FAULT_DMA_READ: int
    CD_EIP93_FAULT_DMA_WRITE: int
    CD_EIP93_FAULT_LATE: int
    CD_EIP93_FAULT_LOST: int
    CD_EIP93_FAULT_HANG: int
    CD_EIP93_FAULT_NO_INTERRUPT: int
    CD_EIP93_FAULT_WRONG_ID: int
    CD_EIP93_FAULT_STATUS: int
    CD_EIP93_FAULT_HALF_OWNED: int
    CD_EIP93_FAULT_MAP: int
    CD_OK: int
    CD_E_INVALID: int
    CD_E_RANGE: int
    CD_E_EXISTS: int
    CD_E_NO_MEMORY: int
    CD_E_TIMEOUT: int
    CD_E_BUS: int

    def cd_eip93_cost_default(self, out_cost: _CData) -> None: ...
    def cd_eip93_emulator_new(self, out_emulator: _CData, config: _CData) -> int: ...
    def cd_eip93_emulator_free(self, emulator: _CData) -> None: ...
    def cd_eip93_emulator_reset(self, emulator: _CData) -> None: ...
    def cd_eip93_emulator_read32(self, emulator: _CData, offset: int) -> int: ...
    def cd_eip93_emulator_write32(self, emulator: _CData, offset: int, value: int) -> None: ...
    def cd_eip93_emulator_read(self, emulator: _CData, offset: int, size: int) -> int: ...
    def cd_eip93_emulator_write(
        self, emulator: _CData, offset: int, value: int, size: int
    ) -> None: ...
    def cd_eip93_emulator_read_memory(
        self,
        emulator: _CData,
        out: _CData,
        address: int,
        length: int,
    ) -> int: ...
    def cd_eip93_emulator_write_memory(
        self,
        emulator: _CData,
        address: int,
        data: _CData,
        length: int,
    ) -> int: ...
    def cd_eip93_emulator_map(
        self,
        emulator: _CData,
        memory: _CData,
        length: int,
        direction: int,
        out_address: _CData,
    ) -> int: ...
    def cd_eip93_emulator_unmap(self, emulator: _CData, address: int) -> int: ...
    def cd_eip93_emulator_step(self, emulator: _CData, ticks: int) -> int: ...
    def cd_eip93_emulator_ticks(self, emulator: _CData) -> int: ...
    def cd_eip93_emulator_irq(self, emulator: _CData) -> bool: ...
    def cd_eip93_emulator_irq_wait(self, emulator: _CData, timeout_ns: int) -> int: ...
    def cd_eip93_emulator_bus(self, emulator: _CData, out_bus: _CData) -> None: ...
    def cd_eip93_emulator_start_thread(
        self, emulator: _CData, max_delay_us: int, seed: int
    ) -> int: ...
    def cd_eip93_emulator_stop_thread(self, emulator: _CData) -> None: ...
    def cd_eip93_event_name(self, event: int) -> _CData: ...
    def cd_eip93_emulator_trace(self, emulator: _CData, entries: int) -> int: ...
    def cd_eip93_emulator_trace_take(
        self,
        emulator: _CData,
        out_entries: _CData,
        capacity: int,
    ) -> int: ...
    def cd_eip93_emulator_counters(self, emulator: _CData, out_counters: _CData) -> None: ...
    def cd_eip93_emulator_inject(
        self, emulator: _CData, fault: int, skip: int, count: int, value: int
    ) -> int: ...

ffi: _cffi_backend.FFI
lib: _Library
