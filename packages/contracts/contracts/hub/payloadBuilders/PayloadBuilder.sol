// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// A withdrawal that oracles allow to an owner. Texts are spelled as the chain's family spells them.
struct SubmitWithdrawRequest {
    uint256 chainId;
    string depository;
    string currency;
    uint256 amount;
    /// The owner's account on the hub.
    address spender;
    string receiver;
    bytes data;
    bytes32 nonce;
}

/// Turns a request into the bytes that its depository executes. One per family of chains.
interface PayloadBuilder {
    function family() external pure returns (string memory);

    /// Empty for a request that the family cannot pay. Payloads carry their id where the family has a
    /// place for it; the allocator refuses bytes that were issued before.
    function buildPayload(bytes32 payloadId, SubmitWithdrawRequest calldata request)
        external
        view
        returns (bytes memory);

    /// Hash that is signed for the payload's part at `index`; zero where the payload has no such part.
    function hashToSign(uint256 chainId, string calldata depository, bytes calldata payload, uint32 index)
        external
        view
        returns (bytes32);
}

/// Reads the texts of requests.
library RequestText {
    error MalformedText();

    /// `0x` and 40 digits.
    function toAddress(string memory text) internal pure returns (address) {
        bytes memory characters = bytes(text);
        if (characters.length != 42 || characters[0] != "0" || characters[1] != "x") revert MalformedText();
        uint160 value = 0;
        for (uint256 i = 2; i < 42; ++i) value = value * 16 + digit(characters[i]);
        return address(value);
    }

    /// 64 hex digits, without `0x`.
    function toBytes32(string memory text) internal pure returns (bytes32) {
        bytes memory characters = bytes(text);
        if (characters.length != 64) revert MalformedText();
        uint256 value = 0;
        for (uint256 i = 0; i < 64; ++i) value = value * 16 + digit(characters[i]);
        return bytes32(value);
    }

    /// A decimal number in its shortest form.
    function toUint64(string memory text) internal pure returns (uint64) {
        bytes memory characters = bytes(text);
        bool hasLeadingZero = characters.length > 1 && characters[0] == "0";
        if (characters.length == 0 || characters.length > 20 || hasLeadingZero) revert MalformedText();
        uint256 value = 0;
        for (uint256 i = 0; i < characters.length; ++i) {
            uint8 one = digit(characters[i]);
            if (one > 9) revert MalformedText();
            value = value * 10 + one;
        }
        if (value > type(uint64).max) revert MalformedText();
        return uint64(value);
    }

    /// Decimal text, with zeros in front if it has fewer than `digits` digits.
    function toDecimal(uint256 value, uint256 digits) internal pure returns (string memory) {
        // One more for each digit that the value has beyond `digits`; then the text is written from its end.
        for (uint256 rest = value / (10 ** digits); rest != 0; rest /= 10) ++digits;
        bytes memory text = new bytes(digits);
        for (uint256 i = digits; i > 0; value /= 10) text[--i] = bytes1(uint8(48 + (value % 10)));
        return string(text);
    }

    /// Two lower-case digits per byte.
    function toHex(bytes memory value) internal pure returns (bytes memory text) {
        bytes16 digits = "0123456789abcdef";
        text = new bytes(2 * value.length);
        for (uint256 i = 0; i < value.length; ++i) {
            text[2 * i] = digits[uint8(value[i]) >> 4];
            text[2 * i + 1] = digits[uint8(value[i]) & 15];
        }
    }

    /// The low bytes of a number, lowest first.
    function littleEndian(uint64 value, uint256 byteCount) internal pure returns (bytes memory encoded) {
        encoded = new bytes(byteCount);
        for (uint256 i = 0; i < byteCount; ++i) encoded[i] = bytes1(uint8(value >> (8 * i)));
    }

    /// Decodes base64 of the standard alphabet, padded to whole groups of four characters.
    function fromBase64(string memory text) internal pure returns (bytes memory decoded) {
        bytes memory characters = bytes(text);
        uint256 length = characters.length;
        if (length == 0 || length % 4 != 0) revert MalformedText();
        uint256 padding = characters[length - 1] != "=" ? 0 : characters[length - 2] != "=" ? 1 : 2;
        decoded = new bytes((length / 4) * 3 - padding);
        for (uint256 i = 0; i < length; i += 4) {
            uint256 group = 0;
            for (uint256 j = i; j < i + 4; ++j) {
                group = group * 64 + (j < length - padding ? _sextet(characters[j]) : 0);
            }
            for (uint256 j = 0; j < 3; ++j) {
                uint256 place = (i / 4) * 3 + j;
                if (place < decoded.length) decoded[place] = bytes1(uint8(group >> (16 - 8 * j)));
            }
        }
    }

    /// The six bits of a base64 character, by its ASCII code.
    function _sextet(bytes1 character) private pure returns (uint256) {
        uint8 code = uint8(character);
        if (code >= 65 && code <= 90) return code - 65;
        if (code >= 97 && code <= 122) return code - 71;
        if (code >= 48 && code <= 57) return code + 4;
        if (code == 43) return 62;
        if (code == 47) return 63;
        revert MalformedText();
    }

    /// The value of a hex digit in either case, by its ASCII code.
    function digit(bytes1 character) internal pure returns (uint8) {
        uint8 code = uint8(character);
        if (code >= 48 && code <= 57) return code - 48;
        if (code >= 97 && code <= 102) return code - 87;
        if (code >= 65 && code <= 70) return code - 55;
        revert MalformedText();
    }
}
