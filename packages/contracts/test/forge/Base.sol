// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// The cheatcodes of forge that these tests use. Reference: getfoundry.sh, cheatcodes
interface Vm {
    function addr(uint256 key) external pure returns (address);
    function assume(bool condition) external pure;
    function chainId(uint256 id) external;
    function computeCreate2Address(bytes32 salt, bytes32 codeHash, address deployer) external pure returns (address);
    function deal(address account, uint256 balance) external;
    function expectEmit(address emitter) external;
    function envBytes(string calldata name) external view returns (bytes memory);
    function etch(address account, bytes calldata code) external;
    function expectRevert() external;
    function expectRevert(bytes4 selector) external;
    function expectRevert(bytes calldata data) external;
    function expectPartialRevert(bytes4 selector) external;
    function prank(address sender) external;
    function sign(uint256 key, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function startPrank(address sender) external;
    function stopPrank() external;
    function warp(uint256 seconds_) external;
}

/// What every test has: the shipped code, signatures, and comparisons that say what they saw.
abstract contract Base {
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    error Differs(string what, uint256 seen, uint256 expected);
    error Wrong(string what);

    /// The code that ships, byte for byte, with its constructor's arguments.
    function ship(string memory name, bytes memory arguments) internal returns (address placed) {
        bytes memory code = abi.encodePacked(vm.envBytes(string.concat("CREATION_CODE_", name)), arguments);
        assembly {
            placed := create(0, add(code, 0x20), mload(code))
        }
        if (placed == address(0)) revert Wrong(name);
    }

    function signed(uint256 key, bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return abi.encodePacked(r, s, v);
    }

    function same(uint256 seen, uint256 expected, string memory what) internal pure {
        if (seen != expected) revert Differs(what, seen, expected);
    }

    function same(address seen, address expected, string memory what) internal pure {
        same(uint160(seen), uint160(expected), what);
    }

    function same(bytes memory seen, bytes memory expected, string memory what) internal pure {
        if (keccak256(seen) != keccak256(expected)) revert Wrong(what);
    }

    function atMost(uint256 seen, uint256 most, string memory what) internal pure {
        if (seen > most) revert Differs(what, seen, most);
    }

    function check(bool holds, string memory what) internal pure {
        if (!holds) revert Wrong(what);
    }

    function within(uint256 value, uint256 low, uint256 high) internal pure returns (uint256) {
        if (value >= low && value <= high) return value;
        return low + value % (high - low + 1);
    }
}
