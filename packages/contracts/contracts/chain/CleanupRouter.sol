// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Calls} from "../shared/Calls.sol";
import {Transfers} from "../shared/Transfers.sol";

/// Hands on all that it holds at this moment. An earlier call of an order, such as a swap, sends its output here, and
/// the last calls of the order hand it on. Whoever calls it decides where everything goes, so nothing may lie here
/// after a transaction, and nobody may ever allow it to take anything: it calls what it is told to. An amount of 0
/// stands for the whole balance; nothing is moved where that is nothing, but a call is made all the same. It
/// needs no owner, multicall or storage, as the calls of an order run from its clone.
/// @dev Functions, events and errors are public routers'. @source github.com/relayprotocol/relay-periphery
contract CleanupRouter {
    event FundsMovement(address from, address to, address currency, uint256 amount, bytes metadata);

    error InvalidRecipient(address recipient);
    error NoRecipientSet();
    error ArrayLengthsMismatch();
    error CallFailed();

    /// Unwrapped coin and payouts come in before they are handed on.
    receive() external payable {}

    function cleanupErc20s(
        address[] calldata tokens,
        address[] calldata recipients,
        uint256[] calldata amounts,
        bytes calldata metadata
    ) external {
        _cleanupErc20s(tokens, recipients, amounts, metadata);
    }

    function cleanupErc20s(
        address[] calldata tokens,
        address[] calldata recipients,
        uint256[] calldata amounts
    ) external {
        // Empty metadata: no bytes of the calldata.
        _cleanupErc20s(tokens, recipients, amounts, msg.data[0:0]);
    }

    /// Allows each target its token and calls it, and then takes back the allowance of what the target did not take.
    function cleanupErc20sViaCall(
        address[] calldata tokens,
        address[] calldata tos,
        bytes[] calldata datas,
        uint256[] calldata amounts
    ) external {
        uint256 count = tokens.length;
        if (tos.length != count || datas.length != count || amounts.length != count) revert ArrayLengthsMismatch();
        for (uint256 i = 0; i < count; ++i) {
            uint256 amount = _amountOf(tokens[i], amounts[i]);
            // Anybody can leave an allowance here, and some tokens change none but from zero.
            _allowNothing(tokens[i], tos[i]);
            Transfers.allow(tokens[i], tos[i], amount);
            _call(tos[i], 0, datas[i]);
            _allowNothing(tokens[i], tos[i]);
            emit FundsMovement(address(this), tos[i], tokens[i], amount, "");
        }
    }

    /// `recipient` 0 stands for the caller.
    function cleanupNative(uint256 amount, address recipient, bytes calldata metadata) external {
        _cleanupNative(amount, recipient, metadata);
    }

    function cleanupNative(uint256 amount, address recipient) external {
        _cleanupNative(amount, recipient, msg.data[0:0]);
    }

    function cleanupNativeViaCall(uint256 amount, address to, bytes calldata data) external {
        uint256 handed = amount == 0 ? address(this).balance : amount;
        _call(to, handed, data);
        emit FundsMovement(address(this), to, address(0), handed, "");
    }

    /// Refuses NFTs, which would stay for whoever comes next: a call must name their recipient himself.
    function onERC721Received(address, address, uint256, bytes calldata) external pure returns (bytes4) {
        revert NoRecipientSet();
    }

    function onERC1155Received(address, address, uint256, uint256, bytes calldata) external pure returns (bytes4) {
        revert NoRecipientSet();
    }

    function onERC1155BatchReceived(
        address,
        address,
        uint256[] calldata,
        uint256[] calldata,
        bytes calldata
    ) external pure returns (bytes4) {
        revert NoRecipientSet();
    }

    function _cleanupErc20s(
        address[] calldata tokens,
        address[] calldata recipients,
        uint256[] calldata amounts,
        bytes calldata metadata
    ) private {
        uint256 count = tokens.length;
        if (recipients.length != count || amounts.length != count) revert ArrayLengthsMismatch();
        for (uint256 i = 0; i < count; ++i) {
            if (recipients[i] == address(0)) revert InvalidRecipient(recipients[i]);
            uint256 amount = _amountOf(tokens[i], amounts[i]);
            if (amount == 0) continue;
            Transfers.push(tokens[i], recipients[i], amount);
            emit FundsMovement(address(this), recipients[i], tokens[i], amount, metadata);
        }
    }

    function _cleanupNative(uint256 amount, address recipient, bytes calldata metadata) private {
        address to = recipient == address(0) ? msg.sender : recipient;
        uint256 handed = amount == 0 ? address(this).balance : amount;
        if (handed == 0) return;
        Transfers.pushNative(to, handed);
        emit FundsMovement(address(this), to, address(0), handed, metadata);
    }

    function _allowNothing(address token, address spender) private {
        if (Transfers.allowed(token, address(this), spender) > 0) Transfers.allow(token, spender, 0);
    }

    function _amountOf(address token, uint256 amount) private view returns (uint256) {
        return amount == 0 ? Transfers.heldBy(token, address(this)) : amount;
    }

    function _call(address to, uint256 value, bytes calldata data) private {
        if (!Calls.run(to, value, data)) revert CallFailed();
    }
}
