// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Erc20Payment, FillContract, NativePayment, OrderCalls} from "../../contracts/chain/FillContract.sol";
import {FillCall, OrderClone} from "../../contracts/chain/OrderClone.sol";
import {HostileToken} from "localnet/adversaries/HostileToken.sol";
import {Burner, Forcer, Intruder} from "./Adversaries.sol";
import {Base} from "./Base.sol";

abstract contract FillBase is Base {
    uint256 internal constant NEVER = type(uint256).max;

    FillContract internal fills;
    HostileToken internal token;

    function _place() internal {
        fills = FillContract(ship("FillContract", ""));
        token = new HostileToken();
    }

    function _native(address to, uint256 amount) internal pure returns (NativePayment[] memory list) {
        if (amount == 0) return list;
        list = new NativePayment[](1);
        list[0] = NativePayment(to, amount);
    }

    function _tokens(address to, uint256 amount) internal view returns (Erc20Payment[] memory list) {
        if (amount == 0) return list;
        list = new Erc20Payment[](1);
        list[0] = Erc20Payment(address(token), to, amount);
    }

    function _swept() internal view returns (address[] memory list) {
        list = new address[](1);
        list[0] = address(token);
    }

    function _call(address to, bytes memory data, uint256 value) internal pure returns (FillCall[] memory list) {
        list = new FillCall[](1);
        list[0] = FillCall(to, data, value);
    }
}

contract FillContractTest is FillBase {
    address private filler = address(0xf111);
    address private recipient = address(0x4ec1);

    function setUp() public {
        _place();
        vm.deal(filler, 1e30);
        token.mint(filler, 1e30);
        vm.prank(filler);
        token.approve(address(fills), 1e30);
    }

    function testFuzz_paysExactly(uint96 native, uint96 tokens, bytes32 id, uint96 forced) public {
        vm.deal(address(this), forced);
        new Forcer{value: forced}(payable(address(fills)));
        vm.prank(filler);
        fills.pay{value: native}(id, block.timestamp, _native(recipient, native), _tokens(recipient, tokens));
        same(recipient.balance, native, "coin of the recipient");
        same(token.balanceOf(recipient), tokens, "tokens of the recipient");
        same(filler.balance, 1e30 - native, "coin of the filler");
        same(token.balanceOf(filler), 1e30 - tokens, "tokens of the filler");
        same(address(fills).balance, forced, "coin of the contract");
        same(token.balanceOf(address(fills)), 0, "tokens of the contract");
    }

    function testFuzz_onceAndNotAfterClose(bytes32 id, address stranger) public {
        vm.assume(stranger != filler && stranger != address(vm) && stranger != address(0));
        vm.startPrank(stranger);
        fills.pay(id, NEVER, _native(recipient, 0), _tokens(recipient, 0));
        vm.stopPrank();
        vm.startPrank(filler);
        fills.pay(id, NEVER, _native(recipient, 0), _tokens(recipient, 1));
        vm.expectRevert(abi.encodeWithSelector(FillContract.AlreadyPaid.selector, id));
        fills.pay(id, NEVER, _native(recipient, 0), _tokens(recipient, 1));
        vm.expectRevert(abi.encodeWithSelector(FillContract.AlreadyPaid.selector, id));
        fills.close(id);
        bytes32 other = keccak256(abi.encode(id));
        fills.close(other);
        vm.expectRevert(abi.encodeWithSelector(FillContract.AlreadyClosed.selector, other));
        fills.pay(other, NEVER, _native(recipient, 0), _tokens(recipient, 1));
        same(token.balanceOf(recipient), 1, "tokens of the recipient");
    }

    function testFuzz_deadlineAndValue(uint64 deadline, uint64 late, uint96 sent, uint96 needed) public {
        vm.assume(sent != needed);
        late = late % 2 == 0 ? 0 : late;
        vm.warp(uint256(deadline) + late);
        vm.startPrank(filler);
        if (late > 0) vm.expectRevert(abi.encodeWithSelector(FillContract.DeadlinePassed.selector, deadline));
        else vm.expectRevert(abi.encodeWithSelector(FillContract.WrongValue.selector, sent, needed));
        fills.pay{value: sent}(0, deadline, _native(recipient, needed), _tokens(recipient, 0));
        same(recipient.balance, 0, "coin of the recipient");
    }

    /// The clone spends what it was paid and nothing else; all that is left goes to the recipient.
    function testFuzz_callsSpendTheirOwnMoney(uint96 paid, uint96 spent, uint96 native, uint96 handed) public {
        (spent, handed) = (uint96(within(spent, 0, paid)), uint96(within(handed, 0, native)));
        FillCall[] memory calls = new FillCall[](2);
        calls[0] = FillCall(address(token), abi.encodeCall(HostileToken.transfer, (address(0xbeef), spent)), 0);
        calls[1] = FillCall(address(0xbeef), "", handed);
        address clone = fills.cloneOf(filler, bytes32("salt"), recipient, calls);
        vm.prank(filler);
        fills.fill{value: native}(
            "id",
            NEVER,
            _native(clone, native),
            _tokens(clone, paid),
            OrderCalls(bytes32("salt"), recipient, _swept(), calls)
        );
        same(token.balanceOf(address(0xbeef)), spent, "tokens spent");
        same(address(0xbeef).balance, handed, "coin spent");
        same(token.balanceOf(recipient), paid - spent, "tokens left");
        same(recipient.balance, native - handed, "coin left");
        same(token.balanceOf(clone) + clone.balance, 0, "held by the clone");
        same(clone.code.length, 0, "code of the clone");
    }

    function testFuzz_callsReachNoAllowance(uint96 amount, address thief) public {
        vm.assume(amount > 0 && thief != filler && thief != address(token));
        bytes memory theft = abi.encodeCall(HostileToken.transferFrom, (filler, thief, amount));
        vm.prank(thief);
        vm.expectPartialRevert(OrderClone.CallFailed.selector);
        fills.fill(
            "id",
            NEVER,
            _native(thief, 0),
            _tokens(thief, 0),
            OrderCalls(0, thief, _swept(), _call(address(token), theft, 0))
        );
        same(token.balanceOf(thief), 0, "stolen");
    }

    function testFuzz_runIsForTheFillContract(address stranger) public {
        OrderClone implementation = fills.implementation();
        vm.assume(stranger != address(fills));
        vm.prank(stranger);
        vm.expectRevert(OrderClone.NotFillContract.selector);
        implementation.run(new FillCall[](0), new address[](0), stranger);
    }

    /// A failing call takes back the record and every payment.
    function testFuzz_allOrNothing(uint96 native, uint96 tokens) public {
        address burner = address(new Burner());
        FillCall[] memory calls = _call(burner, "", 0);
        vm.startPrank(filler);
        vm.expectPartialRevert(OrderClone.CallFailed.selector);
        fills.fill{value: native, gas: 2_000_000}(
            "id",
            NEVER,
            _native(recipient, native),
            _tokens(recipient, tokens),
            OrderCalls(0, recipient, _swept(), calls)
        );
        same(recipient.balance + token.balanceOf(recipient), 0, "paid");
        same(uint256(fills.stateOf(filler, "id")), 0, "state");
    }

    /// Whoever is called while the contract pays gets into none of its functions that move money.
    function testFuzz_noEntryWhileItPays(uint96 value, uint8 place) public {
        Intruder intruder = new Intruder();
        (NativePayment[] memory none, Erc20Payment[] memory noToken) = (_native(filler, 0), _tokens(filler, 0));
        OrderCalls memory noCalls = OrderCalls(0, address(intruder), new address[](0), new FillCall[](0));
        intruder.add(address(fills), abi.encodeCall(fills.pay, ("inner", NEVER, none, noToken)));
        intruder.add(address(fills), abi.encodeCall(fills.fill, ("inner", NEVER, none, noToken, noCalls)));
        intruder.add(
            address(fills.implementation()),
            abi.encodeCall(OrderClone.run, (noCalls.calls, noCalls.sweptTokens, address(intruder)))
        );
        vm.startPrank(filler);
        value = uint96(within(value, 1, 1e20));
        place = place % 3;
        if (place == 0) {
            fills.pay{value: value}("id", NEVER, _native(address(intruder), value), noToken);
        } else if (place == 1) {
            token.set(HostileToken.Habit.Callback, address(0));
            token.arm(address(intruder), "hook");
            fills.pay("id", NEVER, none, _tokens(address(intruder), value));
        } else {
            fills.fill(
                "id", NEVER, none, noToken, OrderCalls(0, filler, _swept(), _call(address(intruder), "call", 0))
            );
        }
        check(intruder.tries() >= 3, "nothing was tried");
        same(intruder.entered(), 0, "entered");
    }
}

/// Random payments, fills and closings of three fillers, with recipients that enter, forced coin and fees.
contract FillHandler is FillBase {
    mapping(address filler => mapping(bytes32 id => uint256)) public paid;
    mapping(address filler => mapping(bytes32 id => bool)) public closed;
    uint256 public forced;
    uint256 public forcedTokens;
    bool public paidAfterClose;
    bool public paidTwice;
    address public clone;
    Intruder private intruder = new Intruder();

    constructor() {
        _place();
        for (uint256 i = 0; i < 3; ++i) {
            vm.deal(fillerOf(i), 1e30);
            token.mint(fillerOf(i), 1e30);
            vm.prank(fillerOf(i));
            token.approve(address(fills), 1e30);
        }
        for (uint256 i = 0; i < 3; ++i) {
            intruder.add(address(fills), abi.encodeCall(fills.close, (idOf(i))));
            intruder.add(
                address(fills),
                abi.encodeCall(fills.pay, (idOf(i), NEVER, _native(address(1), 0), _tokens(address(1), 0)))
            );
        }
    }

    function parts() external view returns (FillContract, HostileToken) {
        return (fills, token);
    }

    function fillerOf(uint256 seed) public pure returns (address) {
        return address(uint160(0xf000 + seed % 3));
    }

    function idOf(uint256 seed) public pure returns (bytes32) {
        return bytes32(seed % 3);
    }

    function pay(uint256 who, uint256 which, uint96 native, uint96 tokens) external {
        address to = which % 2 == 0 ? address(intruder) : address(0xaaaa);
        vm.prank(fillerOf(who));
        fills.pay{value: native}(idOf(which), NEVER, _native(to, native), _tokens(to, tokens));
        _count(fillerOf(who), idOf(which));
    }

    function fill(uint256 who, uint256 which, uint96 native, uint96 tokens, bytes32 salt) external {
        FillCall[] memory calls = _call(address(intruder), "call", native / 2);
        clone = fills.cloneOf(fillerOf(who), salt, address(0xbbbb), calls);
        vm.prank(fillerOf(who));
        fills.fill{value: native}(
            idOf(which),
            NEVER,
            _native(clone, native),
            _tokens(clone, tokens),
            OrderCalls(salt, address(0xbbbb), _swept(), calls)
        );
        _count(fillerOf(who), idOf(which));
    }

    function close(uint256 who, uint256 which) external {
        vm.prank(fillerOf(who));
        fills.close(idOf(which));
        closed[fillerOf(who)][idOf(which)] = true;
    }

    function force(uint64 amount, uint64 tokens) external {
        vm.deal(address(this), amount);
        new Forcer{value: amount}(payable(address(fills)));
        token.mint(address(fills), tokens);
        forced += amount;
        forcedTokens += tokens;
    }

    function habit(uint8 which) external {
        token.set(HostileToken.Habit(which % 9), address(0xaaaa));
        token.arm(address(intruder), "hook");
    }

    function _count(address filler, bytes32 id) private {
        if (closed[filler][id]) paidAfterClose = true;
        if (++paid[filler][id] > 1) paidTwice = true;
    }
}

contract FillInvariants is Base {
    FillHandler private handler;

    function setUp() public {
        handler = new FillHandler();
    }

    function targetContracts() external view returns (address[] memory list) {
        list = new address[](1);
        list[0] = address(handler);
    }

    function invariant_paysOnceAndHoldsNothing() public view {
        (FillContract fills, HostileToken token) = handler.parts();
        check(!handler.paidTwice(), "an id was paid twice");
        check(!handler.paidAfterClose(), "an id was paid after it was closed");
        same(address(fills).balance, handler.forced(), "coin of the contract");
        same(token.balanceOf(address(fills)), handler.forcedTokens(), "tokens of the contract");
        address clone = handler.clone();
        same(clone.balance + token.balanceOf(clone), 0, "held by the clone");
        same(clone.code.length, 0, "code of the clone");
        for (uint256 i = 0; i < 3; ++i) {
            for (uint256 j = 0; j < 3; ++j) {
                (address filler, bytes32 id) = (handler.fillerOf(i), handler.idOf(j));
                uint256 state = handler.paid(filler, id) > 0 ? 1 : handler.closed(filler, id) ? 2 : 0;
                same(uint256(fills.stateOf(filler, id)), state, "state");
            }
        }
    }
}
