// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Signatures} from "../shared/Signatures.sol";

/// Code for accounts that delegate to it by EIP-7702: anybody submits a batch that the account's own key signed.
/// Each batch has the next nonce, and is for one account on one chain. For local chains alone.
contract BatchAccount {
    struct Call {
        address to;
        uint256 value;
        bytes data;
    }

    bytes32 public constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)");
    bytes32 public constant CALL_TYPEHASH = keccak256("Call(address to,uint256 value,bytes data)");
    bytes32 public constant BATCH_TYPEHASH =
        keccak256("Batch(Call[] calls,uint256 nonce)Call(address to,uint256 value,bytes data)");
    /// Apart from what other code of the same account may keep.
    bytes32 private constant NONCE_SLOT = keccak256("batch account nonce");

    error WrongNonce();
    error InvalidSignature();
    error CallFailed(uint256 index, bytes reason);

    receive() external payable {}

    function execute(Call[] calldata calls, uint256 nonce, bytes calldata signature) external {
        if (nonce != nextNonce()) revert WrongNonce();
        bytes32 slot = NONCE_SLOT;
        assembly ("memory-safe") {
            sstore(slot, add(nonce, 1))
        }
        if (Signatures.recover(_digest(calls, nonce), signature) != address(this)) revert InvalidSignature();
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool success, bytes memory reason) = calls[i].to.call{value: calls[i].value}(calls[i].data);
            if (!success) revert CallFailed(i, reason);
        }
    }

    function nextNonce() public view returns (uint256 nonce) {
        bytes32 slot = NONCE_SLOT;
        assembly ("memory-safe") {
            nonce := sload(slot)
        }
    }

    function _digest(Call[] calldata calls, uint256 nonce) private view returns (bytes32) {
        bytes32[] memory hashes = new bytes32[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            hashes[i] = keccak256(abi.encode(CALL_TYPEHASH, calls[i].to, calls[i].value, keccak256(calls[i].data)));
        }
        bytes32 batch = keccak256(abi.encode(BATCH_TYPEHASH, keccak256(abi.encodePacked(hashes)), nonce));
        bytes32 domain =
            keccak256(abi.encode(DOMAIN_TYPEHASH, keccak256("BatchAccount"), block.chainid, address(this)));
        return keccak256(abi.encodePacked(hex"1901", domain, batch));
    }
}
