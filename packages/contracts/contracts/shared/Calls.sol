// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Calls of addresses that others choose. Solidity copies all that a call gives back, whether it is used or not, and
/// its caller pays for the copy: for megabytes as much as the called contract paid to make them. Here one word of a
/// success is copied, and of a failure as much as a person reads.
library Calls {
    uint256 internal constant WORD = 32;
    /// Kept of a failure's reason: an error's selector with its arguments, or a text of usual length.
    uint256 internal constant REASON = 256;

    /// @return ok false where the call failed; `returned` gives its reason
    function run(address to, uint256 value, bytes memory data) internal returns (bool ok) {
        assembly ("memory-safe") {
            ok := call(gas(), to, value, add(data, 0x20), mload(data), 0, 0)
        }
    }

    /// @return ok true where the call succeeded and gave back a word or more, which begins with `word`
    function ask(address to, bytes memory data) internal view returns (bool ok, uint256 word) {
        assembly ("memory-safe") {
            ok := staticcall(gas(), to, add(data, 0x20), mload(data), 0, 0x20)
            ok := and(ok, gt(returndatasize(), 0x1f))
            word := mload(0)
        }
    }

    /// The beginning of what the last call gave back.
    function returned(uint256 most) internal pure returns (bytes memory data) {
        assembly ("memory-safe") {
            let size := returndatasize()
            if gt(size, most) { size := most }
            data := mload(0x40)
            mstore(data, size)
            returndatacopy(add(data, 0x20), 0, size)
            mstore(0x40, and(add(add(data, size), 0x3f), not(0x1f)))
        }
    }
}
