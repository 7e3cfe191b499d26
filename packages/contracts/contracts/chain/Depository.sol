// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Calls} from "../shared/Calls.sol";
import {Initialized} from "../shared/Initialized.sol";
import {Signatures} from "../shared/Signatures.sol";
import {Transfers} from "../shared/Transfers.sol";
import {TypedData} from "../shared/TypedData.sol";

struct Call {
    address to;
    bytes data;
    uint256 value;
    bool allowFailure;
}

struct CallRequest {
    Call[] calls;
    uint256 nonce;
    uint256 expiration;
}

struct CallResult {
    bool success;
    /// The beginning of what the call gave back: one word of a success, and of a failure as much as names it.
    bytes returnData;
}

/// Takes deposits that name an order and pays out what the allocator signs.
contract Depository is Initialized, TypedData {
    bytes32 private constant CALL_TYPEHASH =
        keccak256("Call(address to,bytes data,uint256 value,bool allowFailure)");
    bytes32 private constant CALL_REQUEST_TYPEHASH = keccak256(
        "CallRequest(Call[] calls,uint256 nonce,uint256 expiration)"
        "Call(address to,bytes data,uint256 value,bool allowFailure)"
    );

    address public allocator;
    /// True once the request with this struct hash was accepted.
    mapping(bytes32 structHash => bool) public callRequests;

    event RelayNativeDeposit(address from, uint256 amount, bytes32 id);
    event RelayErc20Deposit(address from, address token, uint256 amount, bytes32 id);
    event RelayCallExecuted(bytes32 id, Call call);

    error CallRequestExpired();
    error CallRequestAlreadyUsed();
    error InvalidSignature();
    error CallFailed(uint256 index, bytes reason);

    constructor(address initializer) Initialized(initializer) {}

    function initialize(address owner_, address allocator_) external {
        _initialize(owner_);
        allocator = allocator_;
    }

    function setAllocator(address allocator_) external onlyOwner {
        allocator = allocator_;
    }

    /// Credits `depositor`, or the sender when it is zero. The same id may be used again.
    function depositNative(address depositor, bytes32 id) external payable {
        emit RelayNativeDeposit(_creditedTo(depositor), msg.value, id);
    }

    function depositErc20(address depositor, address token, uint256 amount, bytes32 id) external {
        _depositErc20(depositor, token, amount, id);
    }

    /// Takes the sender's whole allowance.
    function depositErc20(address depositor, address token, bytes32 id) external {
        _depositErc20(depositor, token, Transfers.allowed(token, msg.sender, address(this)), id);
    }

    /// Runs a request once, up to and including the second it expires. A failing call that does not
    /// allow failure undoes the whole request, so it may be tried again.
    function execute(CallRequest calldata request, bytes calldata signature)
        external
        returns (CallResult[] memory results)
    {
        if (request.expiration < block.timestamp) revert CallRequestExpired();
        bytes32 id = hashCallRequest(request);
        if (callRequests[id]) revert CallRequestAlreadyUsed();
        if (!Signatures.isValid(allocator, _digest(DOMAIN_SEPARATOR(), id), signature)) revert InvalidSignature();
        callRequests[id] = true;

        results = new CallResult[](request.calls.length);
        for (uint256 i = 0; i < request.calls.length; ++i) {
            Call calldata call = request.calls[i];
            bool success = Calls.run(call.to, call.value, call.data);
            bytes memory returnData = Calls.returned(success ? Calls.WORD : Calls.REASON);
            if (success) emit RelayCallExecuted(id, call);
            else if (!call.allowFailure) revert CallFailed(i, returnData);
            results[i] = CallResult(success, returnData);
        }
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return _domainSeparator("RelayDepository", "1");
    }

    /// The struct hash, without a domain: the key of `callRequests`.
    function hashCallRequest(CallRequest calldata request) public pure returns (bytes32) {
        bytes32[] memory hashes = new bytes32[](request.calls.length);
        for (uint256 i = 0; i < hashes.length; ++i) {
            Call calldata call = request.calls[i];
            hashes[i] =
                keccak256(abi.encode(CALL_TYPEHASH, call.to, keccak256(call.data), call.value, call.allowFailure));
        }
        return keccak256(
            abi.encode(
                CALL_REQUEST_TYPEHASH, keccak256(abi.encodePacked(hashes)), request.nonce, request.expiration
            )
        );
    }

    function _depositErc20(address depositor, address token, uint256 amount, bytes32 id) private {
        Transfers.pull(token, msg.sender, address(this), amount);
        emit RelayErc20Deposit(_creditedTo(depositor), token, amount, id);
    }

    function _creditedTo(address depositor) private view returns (address) {
        return depositor == address(0) ? msg.sender : depositor;
    }
}
