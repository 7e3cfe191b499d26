// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "../shared/IERC20.sol";
import {Transfers} from "../shared/Transfers.sol";

/// A lending pool as calls of orders meet it: it takes a token from its caller, by allowance, for whomever the
/// caller names. Nothing is lent.
contract LendingMarket {
    mapping(address token => mapping(address holder => uint256)) public supplied;

    event Supply(address indexed token, address caller, address indexed onBehalfOf, uint256 amount);

    error NothingSupplied();

    /// The shape that a well-known pool has; the last member is a referral code without effect.
    function supply(address token, uint256 amount, address onBehalfOf, uint16) external {
        _supply(token, amount, onBehalfOf);
    }

    /// All that the caller holds and allows: for calls that do not know the amount before they run.
    function supplyAll(address token, address onBehalfOf) external {
        _supply(token, IERC20(token).balanceOf(msg.sender), onBehalfOf);
    }

    function withdraw(address token, uint256 amount, address to) external {
        supplied[token][msg.sender] -= amount;
        Transfers.push(token, to, amount);
    }

    function _supply(address token, uint256 amount, address onBehalfOf) private {
        if (amount == 0) revert NothingSupplied();
        Transfers.pull(token, msg.sender, address(this), amount);
        supplied[token][onBehalfOf] += amount;
        emit Supply(token, msg.sender, onBehalfOf, amount);
    }
}
