// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface IERC20 {
    function allowance(address holder, address spender) external view returns (uint256);
    function balanceOf(address holder) external view returns (uint256);
    function approve(address spender, uint256 amount) external returns (bool);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

interface IWrappedNative is IERC20 {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}
