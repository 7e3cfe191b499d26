// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PayloadBuilder, RequestText, SubmitWithdrawRequest} from "./PayloadBuilder.sol";

/// Transfer requests of the depository program, in borsh. The domain and the vault belong to the deployment.
contract SolanaPayloadBuilder is PayloadBuilder {
    /// Seconds.
    uint256 public constant LIFETIME = 300;
    bytes32 public immutable DOMAIN;
    bytes32 public immutable VAULT;

    constructor(bytes32 domain, bytes32 vault) {
        DOMAIN = domain;
        VAULT = vault;
    }

    function family() external pure returns (string memory) {
        return "solana-vm";
    }

    /// The nonce is the low 64 bits of the id: the program has no more.
    function buildPayload(bytes32 payloadId, SubmitWithdrawRequest calldata request)
        external
        view
        returns (bytes memory)
    {
        if (request.data.length != 0 || request.amount > type(uint64).max) return "";
        // An option in borsh: 0 for native coin, or 1 and the mint.
        bytes memory token = bytes(request.currency).length == 0
            ? bytes(hex"00")
            : abi.encodePacked(hex"01", RequestText.toBytes32(request.currency));
        return abi.encodePacked(
            DOMAIN,
            RequestText.toBytes32(request.receiver),
            token,
            RequestText.littleEndian(uint64(request.amount), 8),
            RequestText.littleEndian(uint64(uint256(payloadId)), 8),
            RequestText.littleEndian(uint64(block.timestamp + LIFETIME), 8),
            VAULT
        );
    }

    function hashToSign(uint256, string calldata, bytes calldata payload, uint32 index)
        external
        pure
        returns (bytes32)
    {
        return index == 0 ? sha256(payload) : bytes32(0);
    }
}
