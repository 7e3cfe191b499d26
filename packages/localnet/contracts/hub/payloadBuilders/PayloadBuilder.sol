// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// What the oracles let an owner withdraw. Texts are spelled as the chain's family spells them.
struct SubmitWithdrawRequest {
    uint256 chainId;
    string depository;
    string currency;
    uint256 amount;
    address spender;
    string receiver;
    bytes data;
    bytes32 nonce;
}

/// Turns a request into the bytes that its depository executes. One per family of chains.
interface PayloadBuilder {
    function family() external pure returns (string memory);

    /// Empty for a request that the family cannot pay. Every payload carries its id, so that no two
    /// requests share bytes.
    function buildPayload(bytes32 payloadId, SubmitWithdrawRequest calldata request)
        external
        view
        returns (bytes memory);

    /// What is signed for the payload's part at `index`.
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

    function digit(bytes1 character) internal pure returns (uint8) {
        uint8 code = uint8(character);
        if (code >= 48 && code <= 57) return code - 48;
        if (code >= 97 && code <= 102) return code - 87;
        if (code >= 65 && code <= 70) return code - 55;
        revert MalformedText();
    }
}
