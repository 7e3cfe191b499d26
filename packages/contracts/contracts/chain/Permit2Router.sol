// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ReentrancyGuard} from "../shared/ReentrancyGuard.sol";
import {Call3Value, PermittedCalls, TokenPermissions} from "./PermittedCalls.sol";

struct PermitBatchTransferFrom {
    TokenPermissions[] permitted;
    uint256 nonce;
    /// Unix seconds.
    uint256 deadline;
}

struct SignatureTransferDetails {
    address to;
    uint256 requestedAmount;
}

interface IPermit2 {
    function permitWitnessTransferFrom(
        PermitBatchTransferFrom memory permit,
        SignatureTransferDetails[] calldata transferDetails,
        address owner,
        bytes32 witness,
        string calldata witnessTypeString,
        bytes calldata signature
    ) external;
}

/// Spender of Permit2 batches whose witness names the calls that spend them and who may submit them. The calls
/// run at an address of their own. From here, the spender of all batches, a call could submit another user's
/// signature to Permit2 and name another payee.
contract Permit2Router is ReentrancyGuard {
    IPermit2 public constant PERMIT2 = IPermit2(0x000000000022D473030F116dDEE9F6B43aC78BA3);

    bytes32 public constant CALL_TYPEHASH =
        keccak256("Call3Value(address target,bool allowFailure,uint256 value,bytes callData)");
    bytes32 public constant WITNESS_TYPEHASH = keccak256(
        "RelayerWitness(address relayer,address refundTo,address nftRecipient,bytes metadata,Call3Value[] call3Values)Call3Value(address target,bool allowFailure,uint256 value,bytes callData)"
    );
    string public constant WITNESS_TYPE =
        "RelayerWitness witness)Call3Value(address target,bool allowFailure,uint256 value,bytes callData)RelayerWitness(address relayer,address refundTo,address nftRecipient,bytes metadata,Call3Value[] call3Values)TokenPermissions(address token,uint256 amount)";

    error InvalidRecipient(address recipient);

    /// Takes all that `user` permitted and runs the calls with it; what they leave goes to `refundTo`. Only the
    /// relayer that the user signed for can submit it, and everything named here but the signature is signed.
    /// `nftRecipient` and `metadata` are signed and have no other use.
    function permit2TransferAndMulticall(
        address user,
        PermitBatchTransferFrom calldata permit,
        Call3Value[] calldata calls,
        address refundTo,
        address nftRecipient,
        bytes calldata metadata,
        bytes calldata signature
    ) external nonReentrant {
        if (refundTo == address(0)) revert InvalidRecipient(refundTo);
        // Nobody else's signature leads to the same address, and Permit2 takes a nonce once.
        bytes32 salt = keccak256(abi.encode(user, permit.nonce));
        bytes memory code = abi.encodePacked(
            type(PermittedCalls).creationCode, abi.encode(calls, permit.permitted, refundTo)
        );
        _take(
            user,
            permit,
            _addressOf(salt, code),
            _witnessOf(calls, refundTo, nftRecipient, metadata),
            signature
        );
        _create(salt, code);
    }

    function _take(
        address user,
        PermitBatchTransferFrom calldata permit,
        address to,
        bytes32 witness,
        bytes calldata signature
    ) private {
        uint256 count = permit.permitted.length;
        SignatureTransferDetails[] memory transfers = new SignatureTransferDetails[](count);
        for (uint256 i = 0; i < count; ++i) {
            transfers[i] = SignatureTransferDetails({to: to, requestedAmount: permit.permitted[i].amount});
        }
        PERMIT2.permitWitnessTransferFrom(permit, transfers, user, witness, WITNESS_TYPE, signature);
    }

    function _witnessOf(
        Call3Value[] calldata calls,
        address refundTo,
        address nftRecipient,
        bytes calldata metadata
    ) private view returns (bytes32) {
        bytes32[] memory hashes = new bytes32[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            Call3Value calldata one = calls[i];
            hashes[i] = keccak256(
                abi.encode(CALL_TYPEHASH, one.target, one.allowFailure, one.value, keccak256(one.callData))
            );
        }
        return keccak256(
            abi.encode(
                WITNESS_TYPEHASH,
                msg.sender,
                refundTo,
                nftRecipient,
                keccak256(metadata),
                keccak256(abi.encodePacked(hashes))
            )
        );
    }

    function _addressOf(bytes32 salt, bytes memory code) private view returns (address) {
        bytes memory parts = abi.encodePacked(bytes1(0xff), address(this), salt, keccak256(code));
        return address(uint160(uint256(keccak256(parts))));
    }

    function _create(bytes32 salt, bytes memory code) private {
        assembly ("memory-safe") {
            if iszero(create2(0, add(code, 0x20), mload(code), salt)) {
                let pointer := mload(0x40)
                returndatacopy(pointer, 0, returndatasize())
                revert(pointer, returndatasize())
            }
        }
    }
}
