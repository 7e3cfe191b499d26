// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Calls} from "../shared/Calls.sol";
import {Transfers} from "../shared/Transfers.sol";

struct FillCall {
    address to;
    bytes data;
    uint256 value;
}

/// Runs the calls of one order, at an address that exists for one transaction alone: an approval that an
/// order leaves behind belongs to an address without code, and no later order is paid there. A call may name
/// any target, so nothing but what was paid for this order may ever lie here.
contract OrderClone {
    /// The contract that deployed the implementation. Clones run the implementation's code, and immutables
    /// are a part of code, so this is the same in each.
    address public immutable fillContract = msg.sender;

    error NotFillContract();
    error CallFailed(uint256 index, bytes reason);

    /// The targets of calls may pay native coin back.
    receive() external payable {}

    /// Runs all calls in order or none, out of the balance of this address; the rest of the native coin and of
    /// `sweptTokens` goes to `recipient`, and the code is gone with the transaction that made it (EIP-6780).
    function run(FillCall[] calldata calls, address[] calldata sweptTokens, address recipient) external {
        if (msg.sender != fillContract) revert NotFillContract();
        for (uint256 i = 0; i < calls.length; ++i) {
            if (!Calls.run(calls[i].to, calls[i].value, calls[i].data)) {
                revert CallFailed(i, Calls.returned(Calls.REASON));
            }
        }
        for (uint256 i = 0; i < sweptTokens.length; ++i) {
            uint256 left = Transfers.heldBy(sweptTokens[i], address(this));
            if (left > 0) Transfers.push(sweptTokens[i], recipient, left);
        }
        if (address(this).balance > 0) Transfers.pushNative(recipient, address(this).balance);
        selfdestruct(payable(recipient));
    }
}
