// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ReentrancyGuard} from "../shared/ReentrancyGuard.sol";
import {Transfers} from "../shared/Transfers.sol";
import {FillCall, FillExecutor} from "./FillExecutor.sol";

struct NativePayment {
    address to;
    uint256 amount;
}

struct Erc20Payment {
    address token;
    address to;
    uint256 amount;
}

/// Pays what an order owes and proves it by events. Whoever fills appends the 32-byte order id to the
/// calldata: readers look for it there, and the ABI decoder ignores trailing bytes.
contract FillContract is ReentrancyGuard {
    FillExecutor public immutable executor = new FillExecutor();

    event SolverNativeTransfer(address to, uint256 amount);
    event SolverCallExecuted(address to, bytes data, uint256 amount);

    error ValueTooLow();

    /// Payments first, then calls in order; everything or nothing. Tokens come from the sender's own
    /// allowance, native coin from `msg.value`, and what is left of it goes back to the sender. What
    /// calls pay back goes to `refundTo`, or to the sender when it is zero.
    function fill(
        NativePayment[] calldata nativePayments,
        Erc20Payment[] calldata erc20Payments,
        FillCall[] calldata calls,
        address refundTo
    ) external payable nonReentrant {
        uint256 left = msg.value;
        for (uint256 i = 0; i < erc20Payments.length; ++i) {
            Erc20Payment calldata payment = erc20Payments[i];
            Transfers.pull(payment.token, msg.sender, payment.to, payment.amount);
        }
        for (uint256 i = 0; i < nativePayments.length; ++i) {
            NativePayment calldata payment = nativePayments[i];
            left = _take(left, payment.amount);
            Transfers.pushNative(payment.to, payment.amount);
            emit SolverNativeTransfer(payment.to, payment.amount);
        }
        if (calls.length > 0) left = _runCalls(calls, left, refundTo);
        if (left > 0) Transfers.pushNative(msg.sender, left);
    }

    function _runCalls(FillCall[] calldata calls, uint256 left, address refundTo) private returns (uint256) {
        uint256 value = 0;
        for (uint256 i = 0; i < calls.length; ++i) value += calls[i].value;
        left = _take(left, value);
        executor.run{value: value}(calls, refundTo == address(0) ? msg.sender : refundTo);
        for (uint256 i = 0; i < calls.length; ++i) {
            emit SolverCallExecuted(calls[i].to, calls[i].data, calls[i].value);
        }
        return left;
    }

    function _take(uint256 left, uint256 amount) private pure returns (uint256) {
        if (amount > left) revert ValueTooLow();
        return left - amount;
    }
}
