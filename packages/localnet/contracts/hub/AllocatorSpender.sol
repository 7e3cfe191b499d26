// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Owned} from "../shared/Owned.sol";
import {Signatures} from "../shared/Signatures.sol";
import {TypedData} from "../shared/TypedData.sol";

struct WithdrawRequest {
    uint256 chainId;
    string depository;
    string currency;
    uint256 amount;
    address spender;
    string receiver;
    bytes data;
    bytes32 nonce;
}

/// Stands in for the allocator of the settlement chain: takes a withdraw request that the oracles
/// signed and remembers it, each one once. Building the withdrawal itself is not its part.
contract AllocatorSpender is Owned, TypedData {
    bytes32 private constant REQUEST_TYPEHASH = keccak256(
        "SubmitWithdrawRequest(uint256 chainId,string depository,string currency,uint256 amount,address spender,string receiver,bytes data,bytes32 nonce)"
    );

    address public oracle;
    mapping(bytes32 payloadId => bool) public isSubmitted;

    event WithdrawRequestSubmitted(bytes32 indexed payloadId, WithdrawRequest request);

    error AlreadySubmitted();
    error InvalidSignature();

    function initialize(address owner_, address oracle_) external {
        _initializeOwner(owner_);
        oracle = oracle_;
    }

    function submitWithdrawRequest(WithdrawRequest calldata request, bytes calldata signature) external {
        bytes32 payloadId = keccak256(abi.encode(request));
        if (isSubmitted[payloadId]) revert AlreadySubmitted();
        if (!Signatures.isValid(oracle, hashRequest(request), signature)) revert InvalidSignature();
        isSubmitted[payloadId] = true;
        emit WithdrawRequestSubmitted(payloadId, request);
    }

    /// The digest an oracle signs.
    function hashRequest(WithdrawRequest calldata request) public view returns (bytes32) {
        bytes32 structHash = keccak256(
            abi.encode(
                REQUEST_TYPEHASH,
                request.chainId,
                keccak256(bytes(request.depository)),
                keccak256(bytes(request.currency)),
                request.amount,
                request.spender,
                keccak256(bytes(request.receiver)),
                keccak256(request.data),
                request.nonce
            )
        );
        return _digest(_domainSeparator("RelayAllocatorSpender", "1"), structHash);
    }
}
