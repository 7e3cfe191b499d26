// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Hub} from "../hub/Hub.sol";

/// A ledger as the public one: whoever has a key of an account moves what it holds, to any account.
/// Withdrawal addresses then hold what strangers sent them, too. For tests.
contract FreeHub is Hub {
    constructor() Hub(address(0)) {}

    function transfer(address receiver, uint256 id, uint256 amount) external returns (bool) {
        if (balanceOf[msg.sender][id] < amount) revert InsufficientBalance();
        balanceOf[msg.sender][id] -= amount;
        balanceOf[receiver][id] += amount;
        emit Transfer(msg.sender, msg.sender, receiver, id, amount);
        return true;
    }
}
