// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Length of data after FastLZ level 1, without producing the output. OP-stack chains price the data
/// of a transaction by it since the Fjord upgrade.
///
/// The format writes runs of at most 32 literals (one byte ahead of each run) and back references of
/// two bytes (up to 8 equal bytes) or three (up to 264), at most 8,191 bytes back. Candidates come
/// from a table of 8,192 positions keyed by the hash of three bytes; the last 13 bytes start no match.
library CompressedSize {
    uint256 private constant TABLE_SIZE = 8192;
    uint256 private constant MAX_DISTANCE = 8191;
    uint256 private constant TAIL = 13;
    uint256 private constant LONGEST_REFERENCE = 262;

    function fastLz(bytes memory data) internal pure returns (uint256 size) {
        uint256[] memory positions = new uint256[](TABLE_SIZE);
        uint256 literalStart = 0;
        uint256 limit = data.length < TAIL ? 0 : data.length - TAIL;
        uint256 cursor = 2;
        while (cursor < limit) {
            uint256 three = _three(data, cursor);
            uint256 slot = _slot(three);
            uint256 candidate = positions[slot];
            positions[slot] = cursor;
            if (cursor - candidate > MAX_DISTANCE || _three(data, candidate) != three) {
                ++cursor;
                continue;
            }
            size += _literals(cursor - literalStart);
            uint256 length = _equalBytes(data, candidate + 3, cursor + 3, limit + 9);
            size += _reference(length);
            cursor += length;
            positions[_slot(_three(data, cursor))] = cursor;
            positions[_slot(_three(data, cursor + 1))] = cursor + 1;
            cursor += 2;
            literalStart = cursor;
        }
        size += _literals(data.length - literalStart);
    }

    function _literals(uint256 count) private pure returns (uint256) {
        return count + (count + 31) / 32;
    }

    function _reference(uint256 length) private pure returns (uint256) {
        uint256 rest = length - 1;
        return 3 * (rest / LONGEST_REFERENCE) + (rest % LONGEST_REFERENCE < 6 ? 2 : 3);
    }

    /// Equal bytes at both places before `end`, counting the first unequal one.
    function _equalBytes(bytes memory data, uint256 left, uint256 right, uint256 end)
        private
        pure
        returns (uint256 count)
    {
        while (right + count < end) {
            bool equal = data[left + count] == data[right + count];
            ++count;
            if (!equal) break;
        }
    }

    function _three(bytes memory data, uint256 start) private pure returns (uint256) {
        return uint8(data[start]) | (uint256(uint8(data[start + 1])) << 8)
            | (uint256(uint8(data[start + 2])) << 16);
    }

    function _slot(uint256 three) private pure returns (uint256) {
        return ((2654435769 * three) >> 19) % TABLE_SIZE;
    }
}
