// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Leaves its coin to an account that cannot refuse it. For tests only.
contract CoinForcer {
    constructor(address payable to) payable {
        selfdestruct(to);
    }
}
