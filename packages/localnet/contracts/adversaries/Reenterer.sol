// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Calls a target again while that target pays it, or while it pretends to be a token and is pulled.
/// It reverts when its own call does, so a target that lets it in and one that does not differ.
/// For tests only.
contract Reenterer {
    address private target;
    bytes private data;

    error EntryRefused(bytes reason);

    function arm(address target_, bytes calldata data_) external {
        target = target_;
        data = data_;
    }

    receive() external payable {
        _enter();
    }

    function transferFrom(address, address, uint256) external returns (bool) {
        _enter();
        return true;
    }

    function approve(address, uint256) external pure returns (bool) {
        return true;
    }

    function allowance(address, address) external pure returns (uint256) {
        return 0;
    }

    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }

    function _enter() private {
        (bool ok, bytes memory reason) = target.call(data);
        if (!ok) revert EntryRefused(reason);
    }
}
