// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CleanupRouter} from "../../contracts/chain/CleanupRouter.sol";
import {HostileToken} from "localnet/adversaries/HostileToken.sol";
import {Burner} from "./Adversaries.sol";
import {Base} from "./Base.sol";
import {Swapper} from "./Tokens.sol";

contract CleanupRouterTest is Base {
    CleanupRouter private router;
    HostileToken private token;
    address private recipient = address(0x4ec1);

    function setUp() public {
        router = CleanupRouter(payable(ship("CleanupRouter", "")));
        token = new HostileToken();
    }

    function _list(address one) private pure returns (address[] memory list) {
        list = new address[](1);
        list[0] = one;
    }

    function _list(uint256 one) private pure returns (uint256[] memory list) {
        list = new uint256[](1);
        list[0] = one;
    }

    function _list(bytes memory one) private pure returns (bytes[] memory list) {
        list = new bytes[](1);
        list[0] = one;
    }

    function testFuzz_handsOnExactly(uint96 held, uint96 amount, bool isAll, uint8 habit) public {
        // All habits but those that refuse, and the one that keeps a fee.
        habit = [uint8(0), 3, 6, 7][habit % 4];
        token.set(HostileToken.Habit(habit), address(0xb10c));
        held = uint96(within(held, 1, 1e24));
        amount = isAll ? 0 : uint96(within(amount, 1, held));
        uint256 moved = isAll ? held : amount;
        token.mint(address(router), held);
        vm.deal(address(router), held);
        router.cleanupErc20s(_list(address(token)), _list(recipient), _list(amount));
        router.cleanupNative(amount, recipient);
        same(token.balanceOf(recipient), moved, "tokens handed on");
        same(recipient.balance, moved, "coin handed on");
        same(token.balanceOf(address(router)) + moved, held, "tokens left");
        same(address(router).balance + moved, held, "coin left");
    }

    function testFuzz_callsTakeNoMoreAndLeaveNoAllowance(uint96 held, uint8 percent, uint96 stale) public {
        Swapper swapper = new Swapper();
        HostileToken other = new HostileToken();
        other.mint(address(swapper), 1e30);
        swapper.tell(100, within(percent, 0, 100));
        held = uint96(within(held, 1, 1e24));
        token.set(HostileToken.Habit.ApproveFromZero, address(0));
        token.mint(address(router), held);
        // What a stranger left.
        vm.prank(address(router));
        token.approve(address(swapper), stale);
        bytes memory data = abi.encodeCall(Swapper.swap, (token, held, other));
        router.cleanupErc20sViaCall(_list(address(token)), _list(address(swapper)), _list(data), _list(uint256(0)));
        same(token.allowance(address(router), address(swapper)), 0, "allowance left");
        uint256 taken = uint256(held) * swapper.takenPercent() / 100;
        same(token.balanceOf(address(swapper)), taken, "taken");
        same(token.balanceOf(address(router)) + taken, held, "left");
    }

    function testFuzz_refusesWhatWouldStayOrFail(uint96 held, address nobody) public {
        held = uint96(within(held, 1, 1e24));
        vm.deal(address(router), held);
        token.mint(address(router), held);
        vm.expectRevert(abi.encodeWithSelector(CleanupRouter.InvalidRecipient.selector, address(0)));
        router.cleanupErc20s(_list(address(token)), _list(address(0)), _list(held));
        vm.expectRevert(CleanupRouter.ArrayLengthsMismatch.selector);
        router.cleanupErc20s(_list(address(token)), new address[](0), _list(held));
        address burner = address(new Burner());
        vm.expectRevert(CleanupRouter.CallFailed.selector);
        router.cleanupNativeViaCall{gas: 1_000_000}(0, burner, "");
        vm.expectRevert(CleanupRouter.NoRecipientSet.selector);
        router.onERC721Received(nobody, nobody, 1, "");
        same(address(router).balance, held, "coin");
        same(token.balanceOf(address(router)), held, "tokens");
    }

    function testFuzz_theCallerIsTheRecipientThatIsNotNamed(uint96 held, address caller) public {
        vm.assume(uint160(caller) > 0xffff && caller.code.length == 0 && caller != address(vm));
        vm.deal(address(router), held);
        uint256 before = caller.balance;
        vm.prank(caller);
        router.cleanupNative(0, address(0));
        same(caller.balance - before, held, "coin of the caller");
    }
}
