// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {GenericMapping} from "../../contracts/hub/GenericMapping.sol";
import {Hub} from "../../contracts/hub/Hub.sol";
import {Execution, HubOracle} from "../../contracts/hub/HubOracle.sol";
import {OracleMultisig} from "../../contracts/hub/OracleMultisig.sol";
import {Owned} from "../../contracts/shared/Owned.sol";
import {Base} from "./Base.sol";

abstract contract HubBase is Base {
    uint256 internal constant ORACLE_KEY = 0x04ac1e;

    Hub internal hub;
    HubOracle internal oracle;

    function _place() internal {
        hub = Hub(ship("Hub", abi.encode(address(this))));
        oracle = _newOracle();
        hub.initialize(address(this), address(oracle));
    }

    function _newOracle() internal returns (HubOracle placed) {
        placed = HubOracle(ship("HubOracle", abi.encode(hub, address(this))));
        placed.initialize(address(this), vm.addr(ORACLE_KEY));
    }

    function _signed(Execution memory one) internal view returns (bytes memory) {
        return signed(ORACLE_KEY, oracle.hashExecution(one));
    }

    function _one(bytes32 key, bytes memory action) internal pure returns (Execution memory) {
        bytes[] memory actions = new bytes[](1);
        actions[0] = action;
        return Execution(key, actions);
    }
}

contract HubTest is HubBase {
    address private holder = address(0xa11a5);

    function setUp() public {
        _place();
    }

    function testFuzz_operatorsAloneMoveBalances(address stranger, uint256 id, uint256 amount) public {
        vm.assume(stranger != address(oracle) && stranger != address(this));
        vm.prank(address(oracle));
        hub.mint(holder, id, amount);
        vm.startPrank(stranger);
        vm.expectRevert(Hub.NotOperator.selector);
        hub.mint(stranger, id, amount);
        vm.expectRevert(Hub.NotOperator.selector);
        hub.burn(holder, id, amount);
        vm.expectRevert(Hub.NotOperator.selector);
        hub.transferFrom(holder, stranger, id, amount);
        bytes32 role = bytes32(keccak256("OPERATOR_ROLE"));
        vm.expectRevert(Owned.NotOwner.selector);
        hub.grantRole(role, stranger);
        vm.expectRevert(Owned.NotOwner.selector);
        hub.revokeRole(role, address(oracle));
        same(hub.balanceOf(holder, id), amount, "balance");
    }

    function testFuzz_nobodyOwesMoreThanIsHeld(uint256 held, uint256 amount, uint256 id) public {
        held = within(held, 1, type(uint256).max - 1);
        vm.startPrank(address(oracle));
        hub.mint(holder, id, held);
        vm.expectRevert();
        hub.mint(address(1), id, type(uint256).max - held + 1);
        if (amount > held) vm.expectRevert(Hub.InsufficientBalance.selector);
        hub.burn(holder, id, amount);
        same(hub.totalSupply(id), amount > held ? held : held - amount, "supply");
        same(hub.balanceOf(holder, id), hub.totalSupply(id), "balance");
    }

    function testFuzz_anExecutionIsAppliedOnceWhereItWasSigned(uint96 amount, uint8 change, uint256 seed) public {
        Execution memory one = _one("key", abi.encode(0, holder, uint256(5), uint256(amount)));
        bytes memory signature = _signed(one);
        address by = vm.addr(ORACLE_KEY);
        change = change % 7;
        if (change == 0) one.idempotencyKey = keccak256(abi.encode(seed));
        else if (change == 1) one.actions[0] = abi.encode(0, holder, uint256(5), uint256(amount) + 1);
        else if (change == 2) one.actions = new bytes[](2);
        else if (change == 3) vm.chainId(block.chainid + 1 + seed % 1e9);
        else if (change == 4) oracle = _newOracle();
        else if (change == 5) signature = signed(within(seed, ORACLE_KEY + 1, 1e9), oracle.hashExecution(one));
        else (by, signature) = (vm.addr(7), signed(7, oracle.hashExecution(one)));
        vm.expectRevert(
            change == 6 ? HubOracle.UnauthorizedOracle.selector : HubOracle.InvalidSignature.selector
        );
        oracle.execute(one, by, signature);
        same(hub.totalSupply(5), 0, "supply");
    }

    function testFuzz_failingExecutionsStopNoOthers(uint96 amount, uint256 kind) public {
        Execution[] memory list = new Execution[](4);
        list[0] = _one("a", abi.encode(0, holder, uint256(5), uint256(amount)));
        list[1] = _one("b", abi.encode(within(kind, 3, type(uint256).max), holder, uint256(5), uint256(1)));
        list[2] = list[0];
        list[3] = _one("c", abi.encode(2, holder, address(9), uint256(5), uint256(amount)));
        bytes[] memory signatures = new bytes[](4);
        for (uint256 i = 0; i < 4; ++i) signatures[i] = _signed(list[i]);
        oracle.executeMultiple(list, vm.addr(ORACLE_KEY), signatures);
        same(hub.balanceOf(address(9), 5), amount, "balance");
        same(hub.totalSupply(5), amount, "supply");
        check(!oracle.isExecuted("b"), "a failed execution is marked");
        vm.expectRevert(HubOracle.AlreadyExecuted.selector);
        oracle.execute(list[0], vm.addr(ORACLE_KEY), signatures[0]);
    }
}

contract OracleMultisigTest is Base {
    OracleMultisig private multisig;
    uint256[] private keys;

    /// By address, as signatures have to stand.
    function setUp() public {
        for (uint256 i = 1; i < 6; ++i) {
            keys.push(i);
            for (uint256 j = keys.length - 1; j > 0 && vm.addr(keys[j]) < vm.addr(keys[j - 1]); --j) {
                (keys[j], keys[j - 1]) = (keys[j - 1], keys[j]);
            }
        }
    }

    function _setSigners(uint256 threshold) private {
        address[] memory signers = new address[](5);
        for (uint256 i = 0; i < 5; ++i) signers[i] = vm.addr(keys[i]);
        multisig = OracleMultisig(ship("OracleMultisig", abi.encode(address(this))));
        multisig.initialize(address(this), signers, threshold);
    }

    function testFuzz_acceptsTheThresholdOfItsSigners(bytes32 digest, uint8 mask, uint256 threshold) public {
        threshold = within(threshold, 1, 5);
        _setSigners(threshold);
        bytes memory signatures = "";
        uint256 count = 0;
        for (uint256 i = 0; i < 5; ++i) {
            if (mask >> i & 1 == 0) continue;
            signatures = abi.encodePacked(signatures, signed(keys[i], digest));
            ++count;
        }
        check(_accepts(digest, signatures) == (count >= threshold), "the threshold");
        check(!_accepts(keccak256(abi.encode(digest)), signatures), "another digest");
    }

    function testFuzz_countsNoSignerTwiceAndNoOutsider(bytes32 digest, uint256 outsider, uint8 place) public {
        _setSigners(3);
        bytes[] memory list = new bytes[](3);
        for (uint256 i = 0; i < 3; ++i) list[i] = signed(keys[i], digest);
        bytes memory good = abi.encodePacked(list[0], list[1], list[2]);
        check(_accepts(digest, good), "three signers");
        check(!_accepts(digest, abi.encodePacked(list[0], list[0], list[1])), "one signer twice");
        check(!_accepts(digest, abi.encodePacked(list[1], list[0], list[2])), "another order");
        check(!_accepts(digest, abi.encodePacked(good, hex"00")), "a byte too many");
        check(!_accepts(digest, _malleated(good)), "the other spelling of a signature");
        list[place % 3] = signed(within(outsider, 6, 1e9), digest);
        check(!_accepts(digest, abi.encodePacked(list[0], list[1], list[2])), "an outsider");
    }

    function testFuzz_formerSignersDoNotCount(bytes32 digest, uint256 threshold) public {
        _setSigners(1);
        address[] memory others = new address[](2);
        (others[0], others[1]) = (vm.addr(77), vm.addr(78));
        threshold = within(threshold, 0, 9);
        bool isValid = threshold > 0 && threshold < 3;
        if (!isValid) vm.expectRevert(OracleMultisig.InvalidThreshold.selector);
        multisig.setSigners(others, threshold);
        bytes memory former = signed(keys[0], digest);
        check(_accepts(digest, former) != isValid, "a former signer");
        vm.prank(others[0]);
        vm.expectRevert(Owned.NotOwner.selector);
        multisig.setSigners(others, 1);
    }

    function _accepts(bytes32 digest, bytes memory signatures) private view returns (bool) {
        return multisig.isValidSignature(digest, signatures) == bytes4(0x1626ba7e);
    }

    /// The first signature with the other s of its curve point.
    function _malleated(bytes memory signatures) private pure returns (bytes memory other) {
        other = abi.encodePacked(signatures);
        uint256 order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141;
        assembly {
            mstore(add(other, 0x40), sub(order, mload(add(other, 0x40))))
            mstore8(add(other, 0x60), sub(55, byte(0, mload(add(other, 0x60)))))
        }
    }
}

contract GenericMappingTest is Base {
    uint256 private constant ORACLE_KEY = 0x04ac1e;
    GenericMapping private entries;
    address private operator = address(0x09e4);

    function setUp() public {
        entries = _new();
    }

    function _new() private returns (GenericMapping placed) {
        placed = GenericMapping(ship("GenericMapping", abi.encode(address(this))));
        placed.initialize(address(this), operator, vm.addr(ORACLE_KEY));
    }

    function testFuzz_anEntryIsWrittenOnceByWhoMay(address user, bytes32 id, bytes calldata data, address other) public {
        vm.assume(other != user && other != operator);
        vm.prank(other);
        vm.expectRevert(GenericMapping.NotOperator.selector);
        entries.setEntryFor(user, id, data);
        vm.prank(user);
        entries.setEntry(id, data);
        vm.prank(operator);
        vm.expectRevert(GenericMapping.EntryExists.selector);
        entries.setEntryFor(user, id, "other");
        vm.prank(user);
        vm.expectRevert(GenericMapping.EntryExists.selector);
        entries.setEntry(id, "other");
        (bytes memory kept, uint256 createdAt) = entries.getEntry(user, id);
        same(kept, data, "data");
        same(createdAt, block.timestamp, "time");
    }

    function testFuzz_anOraclesSignatureWritesOneEntry(bytes32 id, bytes memory data, uint8 change, uint256 seed) public {
        (address user, bytes32 nonce, address by) = (address(0x05e4), "nonce", vm.addr(ORACLE_KEY));
        bytes memory signature = signed(ORACLE_KEY, entries.hashEntry(user, id, data, nonce));
        change = change % 7;
        if (change == 0) user = address(uint160(within(seed, 0x10000, 0x20000)));
        else if (change == 1) id = keccak256(abi.encode(id));
        else if (change == 2) data = abi.encode(data);
        else if (change == 3) nonce = keccak256(abi.encode(seed));
        else if (change == 4) vm.chainId(block.chainid + 1 + seed % 1e9);
        else if (change == 5) entries = _new();
        if (change < 6) {
            vm.expectRevert(GenericMapping.InvalidSignature.selector);
            entries.setEntry(user, id, data, nonce, by, signature);
            return;
        }
        entries.setEntry(user, id, data, nonce, by, signature);
        bytes32 again = keccak256(abi.encode(id));
        signature = signed(ORACLE_KEY, entries.hashEntry(user, again, data, nonce));
        vm.expectRevert(GenericMapping.NonceUsed.selector);
        entries.setEntry(user, again, data, nonce, by, signature);
    }
}

/// Random executions, replays and strangers over three holders and two ids.
contract HubHandler is HubBase {
    mapping(uint256 id => int256) public owed;
    bool public replayed;
    bool public strangerMoved;
    uint256 private nonce;
    bytes private last;

    constructor() {
        _place();
    }

    function parts() external view returns (Hub) {
        return hub;
    }

    function holderOf(uint256 seed) public pure returns (address) {
        return address(uint160(0xa000 + seed % 3));
    }

    function mint(uint256 to, uint256 id, uint96 amount) external {
        _apply(abi.encode(0, holderOf(to), id % 2, uint256(amount)));
        owed[id % 2] += int256(uint256(amount));
    }

    function burn(uint256 from, uint256 id, uint96 amount) external {
        amount = uint96(within(amount, 0, hub.balanceOf(holderOf(from), id % 2) + 1));
        _apply(abi.encode(1, holderOf(from), id % 2, uint256(amount)));
        owed[id % 2] -= int256(uint256(amount));
    }

    function move(uint256 from, uint256 to, uint256 id, uint96 amount) external {
        amount = uint96(within(amount, 0, hub.balanceOf(holderOf(from), id % 2) + 1));
        _apply(abi.encode(2, holderOf(from), holderOf(to), id % 2, uint256(amount)));
    }

    function replay() external {
        Execution memory one = abi.decode(last, (Execution));
        oracle.execute(one, vm.addr(ORACLE_KEY), _signed(one));
        replayed = true;
    }

    function steal(uint256 from, uint256 id, uint96 amount) external {
        vm.prank(holderOf(from));
        hub.transferFrom(holderOf(from + 1), holderOf(from), id % 2, within(amount, 1, 1e20));
        strangerMoved = true;
    }

    function _apply(bytes memory action) private {
        Execution memory one = _one(bytes32(++nonce), action);
        bytes memory signature = _signed(one);
        oracle.execute(one, vm.addr(ORACLE_KEY), signature);
        last = abi.encode(one);
    }
}

contract HubInvariants is Base {
    HubHandler private handler;

    function setUp() public {
        handler = new HubHandler();
    }

    function targetContracts() external view returns (address[] memory list) {
        list = new address[](1);
        list[0] = address(handler);
    }

    function invariant_supplyIsWhatIsOwed() public view {
        Hub hub = handler.parts();
        check(!handler.replayed(), "an execution was applied twice");
        check(!handler.strangerMoved(), "a stranger moved a balance");
        for (uint256 id = 0; id < 2; ++id) {
            uint256 sum = 0;
            for (uint256 i = 0; i < 3; ++i) sum += hub.balanceOf(handler.holderOf(i), id);
            same(sum, hub.totalSupply(id), "sum of the balances");
            same(sum, uint256(handler.owed(id)), "supply");
        }
    }
}
