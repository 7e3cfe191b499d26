// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Transfers} from "../shared/Transfers.sol";

struct FillCall {
    address to;
    bytes data;
    uint256 value;
}

/// Runs the calls that users put into orders. It is a contract of its own because it must hold no
/// allowance: such a call may name any target, the tokens of the solver included.
contract FillExecutor {
    address public immutable fillContract = msg.sender;

    error NotFillContract();
    error CallFailed(uint256 index, bytes reason);

    /// Calls may be paid back.
    receive() external payable {}

    /// Runs all calls in order or none; native coin that calls paid back goes to `refundTo`.
    function run(FillCall[] calldata calls, address refundTo) external payable {
        if (msg.sender != fillContract) revert NotFillContract();
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool success, bytes memory reason) = calls[i].to.call{value: calls[i].value}(calls[i].data);
            if (!success) revert CallFailed(i, reason);
        }
        if (address(this).balance > 0) Transfers.pushNative(refundTo, address(this).balance);
    }
}
