// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Call, CallRequest} from "../../chain/Depository.sol";
import {IERC20} from "../../shared/IERC20.sol";
import {PayloadBuilder, RequestText, SubmitWithdrawRequest} from "./PayloadBuilder.sol";

/// Withdrawals of depositories on chains with EVM contracts: one call that pays the receiver.
contract EvmPayloadBuilder is PayloadBuilder {
    uint256 public constant LIFETIME = 10 days;
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant CALL_TYPEHASH =
        keccak256("Call(address to,bytes data,uint256 value,bool allowFailure)");
    bytes32 private constant CALL_REQUEST_TYPEHASH = keccak256(
        "CallRequest(Call[] calls,uint256 nonce,uint256 expiration)"
        "Call(address to,bytes data,uint256 value,bool allowFailure)"
    );

    function family() external pure returns (string memory) {
        return "ethereum-vm";
    }

    /// Empty for a request with `data`, for which this family has no use.
    function buildPayload(bytes32 payloadId, SubmitWithdrawRequest calldata request)
        external
        view
        returns (bytes memory)
    {
        if (request.data.length != 0) return "";
        address currency = RequestText.toAddress(request.currency);
        address receiver = RequestText.toAddress(request.receiver);
        Call[] memory calls = new Call[](1);
        calls[0] = currency == address(0)
            ? Call(receiver, "", request.amount, false)
            : Call(currency, abi.encodeCall(IERC20.transfer, (receiver, request.amount)), 0, false);
        return abi.encode(CallRequest(calls, uint256(payloadId), block.timestamp + LIFETIME));
    }

    function hashToSign(uint256 chainId, string calldata depository, bytes calldata payload, uint32 index)
        external
        pure
        returns (bytes32)
    {
        if (index != 0) return 0;
        CallRequest memory request = abi.decode(payload, (CallRequest));
        bytes32 separator = keccak256(
            abi.encode(
                DOMAIN_TYPEHASH,
                keccak256("RelayDepository"),
                keccak256("1"),
                chainId,
                RequestText.toAddress(depository)
            )
        );
        return keccak256(abi.encodePacked(hex"1901", separator, _structHash(request)));
    }

    function _structHash(CallRequest memory request) private pure returns (bytes32) {
        bytes32[] memory hashes = new bytes32[](request.calls.length);
        for (uint256 i = 0; i < hashes.length; ++i) {
            Call memory call = request.calls[i];
            hashes[i] =
                keccak256(abi.encode(CALL_TYPEHASH, call.to, keccak256(call.data), call.value, call.allowFailure));
        }
        return keccak256(
            abi.encode(
                CALL_REQUEST_TYPEHASH, keccak256(abi.encodePacked(hashes)), request.nonce, request.expiration
            )
        );
    }
}
