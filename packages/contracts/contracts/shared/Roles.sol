// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Initialized} from "./Initialized.sol";

/// Named roles that the owner grants and takes back.
abstract contract Roles is Initialized {
    mapping(bytes32 role => mapping(address account => bool)) public hasRole;

    event RoleGranted(bytes32 indexed role, address indexed account);
    event RoleRevoked(bytes32 indexed role, address indexed account);

    function grantRole(bytes32 role, address account) external onlyOwner {
        _grantRole(role, account);
    }

    function revokeRole(bytes32 role, address account) external onlyOwner {
        hasRole[role][account] = false;
        emit RoleRevoked(role, account);
    }

    function _grantRole(bytes32 role, address account) internal {
        hasRole[role][account] = true;
        emit RoleGranted(role, account);
    }
}
