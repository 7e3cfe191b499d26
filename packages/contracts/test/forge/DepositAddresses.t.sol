// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DepositAddresses, DepositTerms, OrderWords, SwapTerms} from "../../contracts/chain/DepositAddresses.sol";
import {Depository} from "../../contracts/chain/Depository.sol";
import {DepositRouter} from "../../contracts/chain/DepositRouter.sol";
import {HostileToken} from "localnet/adversaries/HostileToken.sol";
import {Burner, Intruder} from "./Adversaries.sol";
import {Base} from "./Base.sol";
import {Swapper, Wrapped} from "./Tokens.sol";

contract DepositAddressesTest is Base {
    uint256 private constant ORDER_KEY = 0x0d3;
    bytes32 private constant ORDER_TYPEHASH = keccak256(
        "Order(string version,string solverChainId,address solver,uint256 salt,Input[] inputs,Output output,Fee[] fees)Fee(string recipientChainId,bytes recipient,string currencyChainId,bytes currency,uint256 amount)Input(InputPayment payment,InputRefund[] refunds)InputPayment(string chainId,bytes currency,uint256 amount,uint256 weight)InputRefund(string chainId,bytes recipient,bytes currency,uint256 minimumAmount,uint32 deadline,bytes extraData)Output(string chainId,OutputPayment[] payments,uint32 deadline,bytes[] calls,bytes extraData)OutputPayment(bytes recipient,bytes currency,uint256 minimumAmount,uint256 expectedAmount)"
    );

    Depository private depository;
    DepositAddresses private addresses;
    Swapper private swapper;
    Wrapped private wrapped;
    HostileToken private token;
    HostileToken private tokenOut;
    DepositTerms private terms;
    address private place;
    address private sweeper = address(0x53e3);
    address private depositor = address(0xde90);

    function setUp() public {
        depository = Depository(ship("Depository", abi.encode(address(this))));
        (swapper, wrapped, token, tokenOut) = (new Swapper(), new Wrapped(), new HostileToken(), new HostileToken());
        address router = ship("DepositRouter", abi.encode(depository, swapper, wrapped));
        addresses = DepositAddresses(payable(ship("DepositAddresses", abi.encode(depository, router))));
        terms = DepositTerms(vm.addr(ORDER_KEY), sweeper, depositor, "nonce");
        place = addresses.addressOf(terms);
        tokenOut.mint(address(swapper), 1e36);
    }

    function testFuzz_sweepsEverythingIntoItsOrder(uint96 native, uint96 tokens, OrderWords memory order) public {
        (native, tokens) = (uint96(within(native, 1, 1e28)), uint96(within(tokens, 1, 1e28)));
        order.salt = uint256(uint160(place)) << 96 | uint96(order.salt);
        bytes memory signature = _sign(ORDER_KEY, order);
        // The address is used again and again.
        for (uint256 i = 1; i < 3; ++i) {
            vm.deal(place, native);
            token.mint(place, tokens);
            vm.expectEmit(address(depository));
            emit Depository.RelayErc20Deposit(depositor, address(token), tokens, _idOf(order));
            vm.expectEmit(address(depository));
            emit Depository.RelayNativeDeposit(depositor, native, _idOf(order));
            vm.prank(sweeper);
            addresses.sweep(terms, order, signature, address(token));
            same(token.balanceOf(address(depository)), i * tokens, "tokens deposited");
            same(address(depository).balance, i * native, "coin deposited");
            same(place.code.length + place.balance + token.balanceOf(place), 0, "at the address");
        }
        same(token.balanceOf(address(addresses)) + address(addresses).balance, 0, "held");
    }

    function testFuzz_nobodySweepsIntoAnotherOrder(uint8 change, OrderWords memory order, uint256 seed) public {
        order.salt = uint256(uint160(place)) << 96 | uint96(order.salt);
        bytes memory signature = _sign(ORDER_KEY, order);
        DepositTerms memory used = terms;
        address sender = sweeper;
        change = change % 7;
        if (change == 0) {
            sender = address(uint160(within(seed, 0x10000, 0x20000)));
        } else if (change == 1) {
            signature = _sign(within(seed, ORDER_KEY + 1, 1e9), order);
        } else if (change == 2) {
            order.salt ^= uint256(1) << 96 + seed % 160;
            signature = _sign(ORDER_KEY, order);
        } else if (change == 3) {
            order.output = keccak256(abi.encode(seed));
        } else if (change == 4) {
            used.depositor = address(uint160(within(seed, 0x10000, 0x20000)));
        } else if (change == 5) {
            used.nonce = keccak256(abi.encode(seed));
        } else {
            signature = new bytes(seed % 65);
        }
        vm.deal(place, 1 ether);
        token.mint(place, 1 ether);
        vm.prank(sender);
        vm.expectRevert();
        addresses.sweep(used, order, signature, address(token));
        vm.prank(sender);
        vm.expectRevert();
        addresses.sweepAndSwap(used, order, signature, SwapTerms(address(token), 1, address(tokenOut), 0, 0), 1, "");
        same(place.balance + token.balanceOf(place), 2 ether, "at the address");
    }

    function testFuzz_whatIsWithdrawnGoesToTheDepositor(uint96 native, uint96 tokens, uint8 who, bool refuses) public {
        vm.assume(uint256(native) + tokens > 0);
        if (refuses) {
            terms.depositor = address(new Burner());
            place = addresses.addressOf(terms);
        }
        vm.deal(place, native);
        token.mint(place, tokens);
        address sender = [terms.depositor, sweeper, address(0xbad), vm.addr(ORDER_KEY)][who % 4];
        vm.prank(sender);
        if (who % 4 > 1) vm.expectRevert(DepositAddresses.NotDepositor.selector);
        addresses.withdraw(terms, address(token));
        address holder = who % 4 > 1 ? place : terms.depositor;
        same(token.balanceOf(holder), tokens, "tokens");
        same(holder.balance, native, "coin");
    }

    struct Swap {
        uint96 held;
        uint96 amount;
        uint96 priced;
        uint96 least;
        uint8 rate;
        bool isNative;
    }

    /// The order's price holds for every share of its amount, whatever the swap does.
    function testFuzz_swapsAtTheOrdersPriceAtLeast(Swap memory one) public {
        // At the price, or a unit or two above it.
        _bound(one);
        one.least = uint96(uint256(one.amount) * one.rate / 100 * one.priced / one.amount + one.least % 3);
        (SwapTerms memory swap, OrderWords memory order) = _prepare(one);
        uint256 output = uint256(one.amount) * one.rate / 100;
        bool isEnough = output * one.priced >= uint256(one.least) * one.amount;
        bytes memory signature = _sign(ORDER_KEY, order);
        vm.prank(sweeper);
        if (!isEnough) vm.expectPartialRevert(DepositRouter.InsufficientOutput.selector);
        addresses.sweepAndSwap(terms, order, signature, swap, one.amount, _data(one));
        same(tokenOut.balanceOf(address(depository)), isEnough ? output : 0, "deposited");
        if (isEnough) same(_stays(one.isNative), one.held - one.amount, "what is not swapped");
        same(token.balanceOf(address(addresses)) + address(addresses).balance, 0, "held");
    }

    function testFuzz_aSwapIsItsOrders(Swap memory one, uint8 change) public {
        (SwapTerms memory swap, OrderWords memory order) = _prepare(one);
        change = change % 4;
        if (change == 0) swap.tokenOut = address(swapper);
        else if (change == 1) swap.minAmountOut ^= 1;
        else if (change == 2) swap.amountIn ^= 1;
        else swap.nonce = ~swap.nonce;
        bytes memory signature = _sign(ORDER_KEY, order);
        vm.prank(sweeper);
        vm.expectRevert(DepositAddresses.SwapOfAnotherOrder.selector);
        addresses.sweepAndSwap(terms, order, signature, swap, one.amount, "");
    }

    function testFuzz_noInputIsLeft(Swap memory one, uint8 percent) public {
        (one.rate, one.least, one.isNative) = (100, 0, false);
        (SwapTerms memory swap, OrderWords memory order) = _prepare(one);
        one.amount = uint96(within(one.amount, 100, 1e24));
        token.mint(place, one.amount);
        swapper.tell(100, within(percent, 0, 99));
        bytes memory signature = _sign(ORDER_KEY, order);
        vm.prank(sweeper);
        vm.expectRevert(DepositAddresses.InputLeft.selector);
        addresses.sweepAndSwap(terms, order, signature, swap, one.amount, _data(one));
    }

    function testFuzz_noEntryWhileItSweeps(uint96 amount, OrderWords memory order) public {
        Intruder intruder = new Intruder();
        DepositTerms memory own = DepositTerms(vm.addr(ORDER_KEY), address(intruder), address(intruder), "own");
        vm.deal(addresses.addressOf(own), 1);
        bytes memory none = new bytes(0);
        intruder.add(address(addresses), abi.encodeCall(addresses.withdraw, (own, address(0))));
        OrderWords memory theirs = order;
        theirs.salt = uint256(uint160(addresses.addressOf(own))) << 96;
        intruder.add(
            address(addresses), abi.encodeCall(addresses.sweep, (own, theirs, _sign(ORDER_KEY, theirs), address(0)))
        );
        SwapTerms memory swap = SwapTerms(address(token), 1, address(tokenOut), 0, 0);
        intruder.add(
            address(addresses),
            abi.encodeCall(addresses.sweepAndSwap, (own, theirs, _sign(ORDER_KEY, theirs), swap, 1, none))
        );
        intruder.add(address(addresses), "");
        token.set(HostileToken.Habit.Callback, address(0));
        token.arm(address(intruder), "hook");
        token.mint(place, amount);
        vm.deal(place, 1);
        vm.prank(sweeper);
        addresses.withdraw(terms, address(token));
        check(amount == 0 || intruder.tries() == 4, "nothing was tried");
        same(intruder.entered(), 0, "entered");
        same(token.balanceOf(depositor), amount, "tokens of the depositor");
    }

    function testFuzz_takesNoCoinOfStrangers(address stranger, uint96 amount) public {
        vm.deal(stranger, amount);
        vm.prank(stranger);
        (bool ok,) = address(addresses).call{value: amount}("");
        check(!ok, "coin of a stranger was taken");
    }

    function _bound(Swap memory one) private pure {
        one.held = uint96(within(one.held, 1, 1e24));
        one.amount = uint96(within(one.amount, 1, one.held));
        one.priced = uint96(within(one.priced, 1, 1e24));
        one.least = uint96(within(one.least, 0, 3 * uint256(one.priced) + 3));
    }

    function _prepare(Swap memory one) private returns (SwapTerms memory swap, OrderWords memory order) {
        _bound(one);
        if (one.isNative) {
            vm.deal(address(this), one.held);
            (bool ok,) = place.call{value: one.held}("");
            check(ok, "not paid");
        } else {
            token.mint(place, one.held);
        }
        swapper.tell(one.rate, 100);
        swap = SwapTerms(one.isNative ? address(0) : address(token), one.priced, address(tokenOut), one.least, "n");
        order.salt = uint256(uint160(place)) << 96 | uint96(uint256(keccak256(abi.encode(swap))));
    }

    function _data(Swap memory one) private view returns (bytes memory) {
        HostileToken from = one.isNative ? HostileToken(wrapped) : token;
        return abi.encodeCall(Swapper.swap, (from, one.amount, tokenOut));
    }

    function _stays(bool isNative) private view returns (uint256) {
        // Coin beside what is swapped goes to the depositor.
        return isNative ? depositor.balance : token.balanceOf(place);
    }

    function _idOf(OrderWords memory order) private pure returns (bytes32) {
        return keccak256(abi.encode(ORDER_TYPEHASH, order));
    }

    function _sign(uint256 key, OrderWords memory order) private pure returns (bytes memory) {
        return signed(key, keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", _idOf(order))));
    }
}
