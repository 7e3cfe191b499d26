// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Texts as requests spell them, written and read without the shipped code.
library Texts {
    function hexOf(address account) internal pure returns (string memory) {
        return string.concat("0x", hexOf(abi.encodePacked(account)));
    }

    function hexOf(bytes memory data) internal pure returns (string memory) {
        bytes memory digits = "0123456789abcdef";
        bytes memory text = new bytes(data.length * 2);
        for (uint256 i = 0; i < data.length; ++i) {
            (text[2 * i], text[2 * i + 1]) = (digits[uint8(data[i]) / 16], digits[uint8(data[i]) % 16]);
        }
        return string(text);
    }

    function decimalOf(uint256 value) internal pure returns (string memory) {
        if (value < 10) return string(abi.encodePacked(bytes1(uint8(48 + value))));
        return string.concat(decimalOf(value / 10), decimalOf(value % 10));
    }

    /// The digits of a decimal number without its point, and how many follow the point.
    function digitsOf(string memory text) internal pure returns (uint256 value, uint256 decimals) {
        bytes memory characters = bytes(text);
        bool isAfter = false;
        for (uint256 i = 0; i < characters.length; ++i) {
            if (characters[i] == ".") {
                isAfter = true;
                continue;
            }
            value = value * 10 + uint8(characters[i]) - 48;
            if (isAfter) ++decimals;
        }
    }

    /// Of the standard alphabet.
    function base64Of(bytes memory data) internal pure returns (string memory) {
        bytes memory alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        bytes memory text = new bytes((data.length + 2) / 3 * 4);
        for (uint256 i = 0; i < text.length; ++i) {
            (uint256 group, uint256 place) = (i / 4 * 3, i % 4);
            if (place > data.length - group) {
                text[i] = "=";
                continue;
            }
            uint256 bits = 0;
            for (uint256 j = group; j < group + 3; ++j) bits = bits * 256 + (j < data.length ? uint8(data[j]) : 0);
            text[i] = alphabet[bits >> (18 - 6 * place) & 63];
        }
        return string(text);
    }

    function littleEndian(bytes memory data, uint256 start, uint256 count) internal pure returns (uint256 value) {
        for (uint256 i = count; i > 0; --i) value = value * 256 + uint8(data[start + i - 1]);
    }

    function wordAt(bytes memory data, uint256 start) internal pure returns (bytes32 word) {
        assembly {
            word := mload(add(add(data, 0x20), start))
        }
    }
}
