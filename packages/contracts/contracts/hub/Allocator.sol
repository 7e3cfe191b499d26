// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Initialized} from "../shared/Initialized.sol";
import {Signatures} from "../shared/Signatures.sol";
import {TypedData} from "../shared/TypedData.sol";
import {PayloadBuilder, SubmitWithdrawRequest} from "./payloadBuilders/PayloadBuilder.sol";

/// Issues withdrawals: for a request that the oracles signed it stores the one payload that pays it, and
/// the signatures that its signer gives for it. One request per spender and nonce, for ever.
contract Allocator is Initialized, TypedData {
    bytes32 private constant REQUEST_TYPEHASH = keccak256(
        "SubmitWithdrawRequest(uint256 chainId,string depository,string currency,uint256 amount,address spender,string receiver,bytes data,bytes32 nonce)"
    );

    struct BuilderEntry {
        uint256 chainId;
        string depository;
        PayloadBuilder builder;
    }

    address public oracle;
    address public signer;
    mapping(uint256 chainId => mapping(string depository => PayloadBuilder)) public payloadBuilders;
    mapping(bytes32 payloadId => bytes) public payloads;
    /// Unix time at which the payload was built; zero where it never was.
    mapping(bytes32 payloadId => uint256) public payloadTimestamps;
    mapping(bytes32 payloadId => mapping(bytes32 hash => bytes)) public signedPayloads;
    /// The one request of a spender's nonce: readers prove by it that there is no second payload.
    mapping(address spender => mapping(bytes32 nonce => bytes32)) public payloadIdOf;
    /// The one payload of these bytes: a second request with the same bytes would be paid by the same payout.
    mapping(bytes32 payloadHash => bytes32) public payloadIdByHash;

    event BuilderSet(uint256 indexed chainId, string depository, PayloadBuilder builder);
    event WithdrawRequestSubmitted(bytes32 indexed payloadId, SubmitWithdrawRequest request);
    event PayloadBuilt(bytes32 indexed payloadId, bytes payload, uint256 timestamp);
    event PayloadWithdrawSigned(bytes32 indexed payloadId, bytes32 indexed hash, bytes signature);

    error InvalidSignature();
    error UnknownBuilder();
    error NonceUsed();
    error EmptyPayload();
    error DuplicatePayload();
    error NotSigner();
    error UnknownPayload();
    error AlreadySigned();

    constructor(address initializer) Initialized(initializer) {}

    function initialize(address owner_, address oracle_, address signer_, BuilderEntry[] calldata builders)
        external
    {
        _initialize(owner_);
        oracle = oracle_;
        signer = signer_;
        for (uint256 i = 0; i < builders.length; ++i) _setBuilder(builders[i]);
    }

    function setBuilder(uint256 chainId, string calldata depository, PayloadBuilder builder) external onlyOwner {
        _setBuilder(BuilderEntry(chainId, depository, builder));
    }

    /// Anybody brings what the oracles signed.
    function submitWithdrawRequest(SubmitWithdrawRequest calldata request, bytes calldata oracleSignature)
        external
        returns (bytes32 payloadId)
    {
        if (!Signatures.isValid(oracle, hashRequest(request), oracleSignature)) revert InvalidSignature();
        PayloadBuilder builder = payloadBuilders[request.chainId][request.depository];
        if (address(builder) == address(0)) revert UnknownBuilder();
        if (payloadIdOf[request.spender][request.nonce] != 0) revert NonceUsed();
        payloadId = keccak256(abi.encode(request));
        bytes memory payload = builder.buildPayload(payloadId, request);
        if (payload.length == 0) revert EmptyPayload();
        if (payloadIdByHash[keccak256(payload)] != 0) revert DuplicatePayload();
        payloadIdByHash[keccak256(payload)] = payloadId;
        payloadIdOf[request.spender][request.nonce] = payloadId;
        payloads[payloadId] = payload;
        payloadTimestamps[payloadId] = block.timestamp;
        emit WithdrawRequestSubmitted(payloadId, request);
        emit PayloadBuilt(payloadId, payload, block.timestamp);
    }

    /// Each hash of a payload is signed once.
    function storeSignature(bytes32 payloadId, bytes32 hash, bytes calldata signature) external {
        if (msg.sender != signer) revert NotSigner();
        if (payloadTimestamps[payloadId] == 0) revert UnknownPayload();
        if (signedPayloads[payloadId][hash].length != 0) revert AlreadySigned();
        signedPayloads[payloadId][hash] = signature;
        emit PayloadWithdrawSigned(payloadId, hash, signature);
    }

    /// The digest an oracle signs.
    function hashRequest(SubmitWithdrawRequest calldata request) public view returns (bytes32) {
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

    function _setBuilder(BuilderEntry memory entry) private {
        payloadBuilders[entry.chainId][entry.depository] = entry.builder;
        emit BuilderSet(entry.chainId, entry.depository, entry.builder);
    }
}
