// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Signatures} from "../shared/Signatures.sol";

/// Code for accounts that delegate to it by EIP-7702: anybody submits a batch that the account's own key signed.
/// It stands in for Calibur, at Calibur's address, and speaks what clients send there: the typed data and
/// `execute(SignedBatchedCall,bytes)` with the account's own key. Other keys, hooks and user operations are
/// refused or missing. For local chains alone.
/// Source: clients.md 2.2.
contract BatchAccount {
    /// `to` of zero is the account itself.
    struct Call {
        address to;
        uint256 value;
        bytes data;
    }

    struct BatchedCall {
        Call[] calls;
        bool revertOnFailure;
    }

    /// `nonce`: a key of 192 bits, then the number of the batch under that key. `keyHash` of zero: the account's
    /// own key. `executor` of zero: anybody. `deadline` of zero: none.
    struct SignedBatchedCall {
        BatchedCall batchedCall;
        uint256 nonce;
        bytes32 keyHash;
        address executor;
        uint256 deadline;
    }

    bytes32 private constant DOMAIN_TYPEHASH = keccak256(
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract,bytes32 salt)"
    );
    bytes32 private constant CALL_TYPEHASH = keccak256("Call(address to,uint256 value,bytes data)");
    bytes32 private constant BATCH_TYPEHASH = keccak256(
        "BatchedCall(Call[] calls,bool revertOnFailure)Call(address to,uint256 value,bytes data)"
    );
    bytes32 private constant SIGNED_TYPEHASH = keccak256(
        "SignedBatchedCall(BatchedCall batchedCall,uint256 nonce,bytes32 keyHash,address executor,uint256 deadline)BatchedCall(Call[] calls,bool revertOnFailure)Call(address to,uint256 value,bytes data)"
    );
    /// Where this code stands, which the account that runs it cannot ask.
    bytes32 private constant SALT = bytes32(uint256(uint160(0x000000009B1D0aF20D8C6d0A44e162d11F9b8f00)));
    /// Apart from what other code of the same account may keep.
    bytes32 private constant SEQUENCES_SLOT = keccak256("batch account sequences");

    error Unauthorized();
    error KeyDoesNotExist();
    error SignatureExpired();
    error InvalidNonce();
    error InvalidSignature();
    error CallFailed(bytes reason);

    receive() external payable {}

    /// @param wrappedSignature the signature and data for hooks, of which there are none
    function execute(SignedBatchedCall calldata signed, bytes calldata wrappedSignature) external payable {
        if (signed.executor != address(0) && signed.executor != msg.sender) revert Unauthorized();
        if (signed.keyHash != bytes32(0)) revert KeyDoesNotExist();
        if (signed.deadline != 0 && block.timestamp > signed.deadline) revert SignatureExpired();
        _useNonce(signed.nonce);
        (bytes memory signature,) = abi.decode(wrappedSignature, (bytes, bytes));
        if (Signatures.recover(_digest(signed), signature) != address(this)) revert InvalidSignature();
        Call[] calldata calls = signed.batchedCall.calls;
        for (uint256 i = 0; i < calls.length; ++i) {
            address to = calls[i].to == address(0) ? address(this) : calls[i].to;
            (bool success, bytes memory reason) = to.call{value: calls[i].value}(calls[i].data);
            if (!success && signed.batchedCall.revertOnFailure) revert CallFailed(reason);
        }
    }

    /// The number that the next batch under `key` has.
    function getSeq(uint256 key) external view returns (uint256 sequence) {
        return _sequences()[uint192(key)];
    }

    function _useNonce(uint256 nonce) private {
        uint192 key = uint192(nonce >> 64);
        uint64 sequence = uint64(nonce);
        mapping(uint192 => uint64) storage sequences = _sequences();
        if (sequences[key] != sequence) revert InvalidNonce();
        sequences[key] = sequence + 1;
    }

    function _sequences() private pure returns (mapping(uint192 => uint64) storage sequences) {
        bytes32 slot = SEQUENCES_SLOT;
        assembly ("memory-safe") {
            sequences.slot := slot
        }
    }

    function _digest(SignedBatchedCall calldata signed) private view returns (bytes32) {
        Call[] calldata calls = signed.batchedCall.calls;
        bytes32[] memory hashes = new bytes32[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            hashes[i] = keccak256(abi.encode(CALL_TYPEHASH, calls[i].to, calls[i].value, keccak256(calls[i].data)));
        }
        bytes32 batch = keccak256(
            abi.encode(
                BATCH_TYPEHASH, keccak256(abi.encodePacked(hashes)), signed.batchedCall.revertOnFailure
            )
        );
        bytes32 content = keccak256(
            abi.encode(
                SIGNED_TYPEHASH, batch, signed.nonce, signed.keyHash, signed.executor, signed.deadline
            )
        );
        bytes32 domain = keccak256(
            abi.encode(
                DOMAIN_TYPEHASH, keccak256("Calibur"), keccak256("1.0.0"), block.chainid, address(this), SALT
            )
        );
        return keccak256(abi.encodePacked(hex"1901", domain, content));
    }
}
