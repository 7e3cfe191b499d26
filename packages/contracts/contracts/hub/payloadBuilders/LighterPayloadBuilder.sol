// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PayloadBuilder, RequestText, SubmitWithdrawRequest} from "./PayloadBuilder.sol";

struct LighterTransfer {
    uint64 nonce;
    uint64 fromAccountIndex;
    uint64 fromRouteType;
    uint64 apiKeyIndex;
    uint64 toAccountIndex;
    uint64 toRouteType;
    uint64 assetIndex;
    uint64 amount;
    uint64 usdcFee;
    uint64 lighterChainId;
    bytes32 memo;
}

struct LighterAction {
    uint8 actionType;
    bytes parameters;
}

/// Transfers of the exchange, whose text is signed. Nonce, routes, key, fee and memo come from the request's
/// `data`: a transfer has no place of its own for the payload's id.
contract LighterPayloadBuilder is PayloadBuilder {
    uint8 public constant TRANSFER = 0;
    uint64 public immutable LIGHTER_CHAIN_ID;

    constructor(uint64 lighterChainId) {
        LIGHTER_CHAIN_ID = lighterChainId;
    }

    function family() external pure returns (string memory) {
        return "lighter-vm";
    }

    /// Empty for an action that is no transfer, and for an amount that does not fit in 64 bits.
    function buildPayload(bytes32, SubmitWithdrawRequest calldata request) external view returns (bytes memory) {
        LighterTransfer memory transfer;
        uint8 actionType;
        (
            actionType,
            transfer.nonce,
            transfer.fromRouteType,
            transfer.toRouteType,
            transfer.apiKeyIndex,
            transfer.usdcFee,
            transfer.memo
        ) = abi.decode(request.data, (uint8, uint64, uint64, uint64, uint64, uint64, bytes32));
        if (actionType != TRANSFER || request.amount > type(uint64).max) return "";
        transfer.fromAccountIndex = RequestText.toUint64(request.depository);
        transfer.toAccountIndex = RequestText.toUint64(request.receiver);
        transfer.assetIndex = RequestText.toUint64(request.currency);
        transfer.amount = uint64(request.amount);
        transfer.lighterChainId = LIGHTER_CHAIN_ID;
        return abi.encode(LighterAction(TRANSFER, abi.encode(transfer)));
    }

    /// EIP-191 hash of the transfer's text, as wallets sign texts.
    function hashToSign(uint256, string calldata, bytes calldata payload, uint32 index)
        external
        pure
        returns (bytes32)
    {
        if (index != 0) return 0;
        LighterAction memory action = abi.decode(payload, (LighterAction));
        bytes memory text = _text(abi.decode(action.parameters, (LighterTransfer)));
        bytes memory length = bytes(RequestText.toDecimal(text.length, 1));
        return keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n", length, text));
    }

    function _text(LighterTransfer memory transfer) private pure returns (bytes memory) {
        bytes memory route = abi.encodePacked(
            "Transfer\n\nnonce: ",
            _hex(transfer.nonce),
            "\nfrom: ",
            _hex(transfer.fromAccountIndex),
            " (route ",
            _hex(transfer.fromRouteType),
            ")\napi key: ",
            _hex(transfer.apiKeyIndex),
            "\nto: ",
            _hex(transfer.toAccountIndex),
            " (route ",
            _hex(transfer.toRouteType)
        );
        return abi.encodePacked(
            route,
            ")\nasset: ",
            _hex(transfer.assetIndex),
            "\namount: ",
            _hex(transfer.amount),
            "\nfee: ",
            _hex(transfer.usdcFee),
            "\nchainId: ",
            _hex(transfer.lighterChainId),
            "\nmemo: ",
            RequestText.toHex(abi.encodePacked(transfer.memo)),
            "\nOnly sign this message for a trusted client!"
        );
    }

    function _hex(uint64 value) private pure returns (bytes memory) {
        return abi.encodePacked("0x", RequestText.toHex(abi.encodePacked(value)));
    }
}
