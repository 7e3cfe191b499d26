// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Initialized} from "../shared/Initialized.sol";
import {Roles} from "../shared/Roles.sol";

/// Ledger of claims on deposited money, one ERC-6909 id per chain and currency. Balances belong to
/// aliases that mostly have no key, so only operators move them.
contract Hub is Roles {
    bytes32 public constant OPERATOR_ROLE = keccak256("OPERATOR_ROLE");

    mapping(address holder => mapping(uint256 id => uint256)) public balanceOf;
    mapping(uint256 id => uint256) public totalSupply;

    event Transfer(
        address caller, address indexed sender, address indexed receiver, uint256 indexed id, uint256 amount
    );

    error NotOperator();
    error InsufficientBalance();

    modifier onlyOperator() {
        if (!hasRole[OPERATOR_ROLE][msg.sender]) revert NotOperator();
        _;
    }

    constructor(address initializer) Initialized(initializer) {}

    function initialize(address owner_, address operator) external {
        _initialize(owner_);
        _grantRole(OPERATOR_ROLE, operator);
    }

    function mint(address receiver, uint256 id, uint256 amount) external onlyOperator {
        totalSupply[id] += amount;
        balanceOf[receiver][id] += amount;
        emit Transfer(msg.sender, address(0), receiver, id, amount);
    }

    function burn(address sender, uint256 id, uint256 amount) external onlyOperator {
        _debit(sender, id, amount);
        totalSupply[id] -= amount;
        emit Transfer(msg.sender, sender, address(0), id, amount);
    }

    function transferFrom(address sender, address receiver, uint256 id, uint256 amount)
        external
        onlyOperator
        returns (bool)
    {
        _debit(sender, id, amount);
        balanceOf[receiver][id] += amount;
        emit Transfer(msg.sender, sender, receiver, id, amount);
        return true;
    }

    function _debit(address holder, uint256 id, uint256 amount) private {
        if (balanceOf[holder][id] < amount) revert InsufficientBalance();
        balanceOf[holder][id] -= amount;
    }
}
