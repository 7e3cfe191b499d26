// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Depository} from "../../contracts/chain/Depository.sol";
import {DepositRouter, SwapAndDeposit, SwapAndPay} from "../../contracts/chain/DepositRouter.sol";
import {HostileToken} from "localnet/adversaries/HostileToken.sol";
import {Intruder} from "./Adversaries.sol";
import {Base} from "./Base.sol";
import {Swapper, Wrapped} from "./Tokens.sol";

contract DepositRouterTest is Base {
    DepositRouter private router;
    Depository private depository;
    Swapper private swapper;
    Wrapped private wrapped;
    HostileToken private tokenIn;
    HostileToken private tokenOut;
    address private user = address(0x05e4);

    struct Case {
        uint96 amount;
        uint8 rate;
        uint8 percent;
        bool isNativeIn;
        bool isNativeOut;
        bool pays;
        address payee;
    }

    struct Seen {
        uint256 input;
        uint256 output;
        uint256 least;
    }

    function setUp() public {
        depository = Depository(ship("Depository", abi.encode(address(this))));
        swapper = new Swapper();
        wrapped = new Wrapped();
        tokenIn = new HostileToken();
        tokenOut = new HostileToken();
        router = DepositRouter(payable(ship("DepositRouter", abi.encode(depository, swapper, wrapped))));
        tokenIn.mint(user, 1e30);
        tokenOut.mint(address(swapper), 1e30);
        vm.deal(address(this), 1e30);
        wrapped.deposit{value: 1e30}();
        wrapped.transfer(address(swapper), 1e30);
        vm.deal(user, 1e30);
        vm.prank(user);
        tokenIn.approve(address(router), 1e30);
        // What strangers left here is no part of any amount.
        tokenIn.mint(address(router), 3);
        tokenOut.mint(address(router), 5);
    }

    /// What is taken is spent or given back, and all that comes of it goes where the caller said.
    function testFuzz_whatGoesInComesOut(Case memory one) public {
        Seen memory seen = _prepare(one);
        (uint256 inBefore, uint256 payeeBefore) = (_held(one.isNativeIn, user), _out(one));
        if (!one.pays) {
            vm.expectEmit(address(depository));
            if (one.isNativeOut) emit Depository.RelayNativeDeposit(one.payee, seen.output, "id");
            else emit Depository.RelayErc20Deposit(one.payee, address(tokenOut), seen.output, "id");
        }
        _run(one, seen.least);
        same(inBefore - _held(one.isNativeIn, user), seen.input, "spent");
        same(_out(one) - payeeBefore, seen.output, "paid");
        _nothingStays();
    }

    function testFuzz_lessThanTheLeastIsRefused(Case memory one) public {
        Seen memory seen = _prepare(one);
        vm.expectRevert(
            abi.encodeWithSelector(DepositRouter.InsufficientOutput.selector, seen.output, seen.output + 1)
        );
        _run(one, seen.output + 1);
        _nothingStays();
    }

    function testFuzz_swapsOfOneTokenAndWrongValuesAreRefused(uint96 sent, uint96 named) public {
        vm.assume(sent != named);
        vm.startPrank(user);
        vm.expectRevert(DepositRouter.SameToken.selector);
        router.swapAndDeposit(SwapAndDeposit(address(tokenIn), 1, address(tokenIn), 0, user, "id", ""));
        vm.expectRevert(DepositRouter.WrongValue.selector);
        router.swapAndDeposit{value: sent}(SwapAndDeposit(address(0), named, address(tokenOut), 0, user, "id", ""));
        (bool ok,) = address(router).call{value: 1}("");
        check(!ok, "loose coin was taken");
    }

    /// The token, the payee and the swap enter: none gets in, and the user's allowance serves nobody else.
    function testFuzz_noEntryWhileItSwaps(uint96 amount, bool isHook) public {
        amount = uint96(within(amount, 1, 1e20));
        Intruder intruder = new Intruder();
        tokenOut.mint(address(swapper), 1e20);
        bytes memory swap = abi.encodeCall(Swapper.swap, (tokenIn, 0, tokenOut));
        intruder.add(
            address(router),
            abi.encodeCall(
                router.swapAndPay,
                (SwapAndPay(address(tokenIn), 0, address(tokenOut), 0, address(intruder), "id", swap))
            )
        );
        intruder.add(
            address(router),
            abi.encodeCall(
                router.swapAndDeposit,
                (SwapAndDeposit(address(tokenIn), 0, address(tokenOut), 0, address(intruder), "id", swap))
            )
        );
        if (isHook) {
            tokenIn.set(HostileToken.Habit.Callback, address(0));
            tokenIn.arm(address(intruder), "hook");
        }
        swap = abi.encodeCall(Swapper.swap, (tokenIn, amount, HostileToken(wrapped)));
        vm.prank(user);
        router.swapAndPay(SwapAndPay(address(tokenIn), amount, address(0), amount, address(intruder), "id", swap));
        check(intruder.tries() >= 2, "nothing was tried");
        same(intruder.entered(), 0, "entered");
        same(address(intruder).balance, amount, "paid");
        _nothingStays();
    }

    function _prepare(Case memory one) private returns (Seen memory seen) {
        one.amount = uint96(within(one.amount, 1, 1e24));
        one.payee = address(uint160(within(uint160(one.payee), 0x10000, 0x20000)));
        if (one.isNativeIn && one.isNativeOut) one.isNativeOut = false;
        swapper.tell(one.rate, within(one.percent, 0, 100));
        seen.input = uint256(one.amount) * swapper.takenPercent() / 100;
        seen.output = seen.input * one.rate / 100;
        seen.least = seen.output;
    }

    function _run(Case memory one, uint256 least) private {
        HostileToken from = one.isNativeIn ? HostileToken(wrapped) : tokenIn;
        HostileToken to = one.isNativeOut ? HostileToken(wrapped) : tokenOut;
        bytes memory data = abi.encodeCall(Swapper.swap, (from, one.amount, to));
        address named = one.isNativeIn ? address(0) : address(tokenIn);
        address out = one.isNativeOut ? address(0) : address(tokenOut);
        uint256 value = one.isNativeIn ? one.amount : 0;
        vm.prank(user);
        if (one.pays) {
            router.swapAndPay{value: value}(SwapAndPay(named, one.amount, out, least, one.payee, "id", data));
        } else {
            router.swapAndDeposit{value: value}(SwapAndDeposit(named, one.amount, out, least, one.payee, "id", data));
        }
    }

    function _out(Case memory one) private view returns (uint256) {
        address payee = one.pays ? one.payee : address(depository);
        return one.isNativeOut ? payee.balance : tokenOut.balanceOf(payee);
    }

    function _held(bool isNative, address holder) private view returns (uint256) {
        return isNative ? holder.balance : tokenIn.balanceOf(holder);
    }

    function _nothingStays() private view {
        same(tokenIn.balanceOf(address(router)), 3, "input that stays");
        same(tokenOut.balanceOf(address(router)), 5, "output that stays");
        same(wrapped.balanceOf(address(router)) + address(router).balance, 0, "coin that stays");
        same(tokenIn.allowance(address(router), address(swapper)), 0, "allowance of the input");
        same(wrapped.allowance(address(router), address(swapper)), 0, "allowance of wrapped coin");
        same(tokenOut.allowance(address(router), address(depository)), 0, "allowance of the output");
    }
}
