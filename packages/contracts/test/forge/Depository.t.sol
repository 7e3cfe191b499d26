// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Call, CallRequest, CallResult, Depository} from "../../contracts/chain/Depository.sol";
import {Initialized} from "../../contracts/shared/Initialized.sol";
import {Owned} from "../../contracts/shared/Owned.sol";
import {HostileToken} from "localnet/adversaries/HostileToken.sol";
import {Burner, Intruder} from "./Adversaries.sol";
import {Base} from "./Base.sol";
import {SigningWallet} from "./Tokens.sol";

abstract contract DepositoryBase is Base {
    uint256 internal constant ALLOCATOR_KEY = 0xa110;

    Depository internal depository;
    HostileToken internal token;

    function _place() internal {
        depository = _newDepository();
        token = new HostileToken();
    }

    function _newDepository() internal returns (Depository placed) {
        placed = Depository(ship("Depository", abi.encode(address(this))));
        placed.initialize(address(0x0e4), vm.addr(ALLOCATOR_KEY));
    }

    function _request(Call[] memory calls, uint256 nonce) internal view returns (CallRequest memory) {
        return CallRequest(calls, nonce, block.timestamp);
    }

    function _one(address to, bytes memory data, uint256 value, bool mayFail)
        internal
        pure
        returns (Call[] memory calls)
    {
        calls = new Call[](1);
        calls[0] = Call(to, data, value, mayFail);
    }

    function _digest(CallRequest memory request) internal view returns (bytes32) {
        bytes32 separator = depository.DOMAIN_SEPARATOR();
        return keccak256(abi.encodePacked(hex"1901", separator, depository.hashCallRequest(request)));
    }

    function _signed(CallRequest memory request) internal view returns (bytes memory) {
        return signed(ALLOCATOR_KEY, _digest(request));
    }
}

contract DepositoryTest is DepositoryBase {
    address private user = address(0x05e4);

    function setUp() public {
        _place();
        vm.deal(user, 1e30);
        token.mint(user, 1e30);
        vm.prank(user);
        token.approve(address(depository), 1e30);
    }

    function testFuzz_depositsAreWholeAndNamed(uint96 native, uint96 tokens, address depositor, bytes32 id) public {
        address credited = depositor == address(0) ? user : depositor;
        vm.startPrank(user);
        vm.expectEmit(address(depository));
        emit Depository.RelayNativeDeposit(credited, native, id);
        depository.depositNative{value: native}(depositor, id);
        vm.expectEmit(address(depository));
        emit Depository.RelayErc20Deposit(credited, address(token), tokens, id);
        depository.depositErc20(depositor, address(token), tokens, id);
        same(address(depository).balance, native, "coin");
        same(token.balanceOf(address(depository)), tokens, "tokens");
        token.approve(address(depository), tokens);
        depository.depositErc20(depositor, address(token), id);
        same(token.balanceOf(address(depository)), 2 * uint256(tokens), "tokens with the whole allowance");
        same(token.balanceOf(user), 1e30 - 2 * uint256(tokens), "tokens of the user");
    }

    function testFuzz_onlyItsOwnAllocatorSigns(uint256 key, uint96 amount, uint8 change) public {
        vm.deal(address(depository), amount);
        CallRequest memory request = _request(_one(user, "", amount, false), 7);
        bytes memory signature = _signed(request);
        change = change % 8;
        if (change == 0) request.nonce = 8;
        else if (change == 1) request.expiration += 1;
        else if (change == 2) request.calls[0].to = address(0xbad);
        else if (change == 3) request.calls[0].data = hex"00";
        else if (change == 4) request.calls[0].allowFailure = true;
        else if (change == 5) vm.chainId(block.chainid + 1 + key % 1e9);
        else if (change == 6) depository = _newDepository();
        else signature = signed(within(key, 1, 1e9) + ALLOCATOR_KEY, _digest(request));
        vm.expectRevert(Depository.InvalidSignature.selector);
        depository.execute(request, signature);
        same(user.balance, 1e30, "coin of the payee");
    }

    function testFuzz_executesOnceUntilItExpires(uint96 amount, uint32 late) public {
        vm.deal(address(depository), 2 * uint256(amount));
        CallRequest memory request = _request(_one(user, "", amount, false), 7);
        bytes memory signature = _signed(request);
        vm.warp(block.timestamp + late);
        if (late > 0) {
            vm.expectRevert(Depository.CallRequestExpired.selector);
            depository.execute(request, signature);
            return;
        }
        depository.execute(request, signature);
        same(user.balance, 1e30 + uint256(amount), "coin of the payee");
        vm.expectRevert(Depository.CallRequestAlreadyUsed.selector);
        depository.execute(request, signature);
    }

    /// A failure that is not allowed undoes everything and may be tried again.
    function testFuzz_failuresUndoUnlessAllowed(uint96 amount, bool mayFail) public {
        vm.deal(address(depository), amount);
        Call[] memory calls = new Call[](2);
        calls[0] = Call(user, "", amount, false);
        calls[1] = Call(address(new Burner()), "", 0, mayFail);
        CallRequest memory request = _request(calls, 7);
        bytes memory signature = _signed(request);
        if (!mayFail) vm.expectPartialRevert(Depository.CallFailed.selector);
        depository.execute{gas: 2_000_000}(request, signature);
        same(user.balance, mayFail ? 1e30 + uint256(amount) : 1e30, "coin of the payee");
        bytes32 id = depository.hashCallRequest(request);
        check(depository.callRequests(id) == mayFail, "used");
    }

    function testFuzz_payeeCannotExecuteAgain(uint96 amount) public {
        Intruder intruder = new Intruder();
        vm.deal(address(depository), 3 * uint256(amount));
        CallRequest memory request = _request(_one(address(intruder), "", amount, false), 7);
        bytes memory signature = _signed(request);
        intruder.add(address(depository), abi.encodeCall(depository.execute, (request, signature)));
        intruder.add(address(depository), abi.encodeCall(depository.setAllocator, (address(intruder))));
        depository.execute(request, signature);
        same(intruder.tries(), 2, "tries");
        same(intruder.entered(), 0, "entered");
        same(address(intruder).balance, amount, "coin of the payee");
    }

    function testFuzz_aWalletSignsForItself(uint96 amount, bytes calldata signature) public {
        SigningWallet wallet = new SigningWallet();
        vm.prank(address(0x0e4));
        depository.setAllocator(address(wallet));
        vm.deal(address(depository), amount);
        CallRequest memory request = _request(_one(user, "", amount, false), 7);
        vm.expectRevert(Depository.InvalidSignature.selector);
        depository.execute(request, signature);
        wallet.sign(_digest(request));
        depository.execute(request, signature);
        same(user.balance, 1e30 + uint256(amount), "coin of the payee");
    }

    function testFuzz_rightsAreTheOwners(address stranger) public {
        vm.assume(stranger != address(0) && stranger != address(0x0e4) && stranger != address(this));
        vm.startPrank(stranger);
        vm.expectRevert(Owned.NotOwner.selector);
        depository.setAllocator(stranger);
        vm.expectRevert(Owned.AlreadyInitialized.selector);
        depository.initialize(stranger, stranger);
        vm.stopPrank();
        Depository fresh = Depository(ship("Depository", abi.encode(address(this))));
        vm.prank(stranger);
        vm.expectRevert(Initialized.NotInitializer.selector);
        fresh.initialize(stranger, stranger);
    }
}

/// Random deposits and payouts, replays and changes of them, with payees that enter.
contract DepositoryHandler is DepositoryBase {
    uint256 public native;
    uint256 public tokens;
    bool public replayed;
    uint256 private nonce;
    bytes private last;
    Intruder private intruder = new Intruder();

    constructor() {
        _place();
        vm.deal(address(this), 1e30);
        token.mint(address(this), 1e30);
        token.approve(address(depository), 1e30);
        intruder.add(address(depository), abi.encodeCall(depository.depositNative, (address(0), "id")));
    }

    function parts() external view returns (Depository, HostileToken) {
        return (depository, token);
    }

    function deposit(uint64 coin, uint64 amount, bytes32 id) external {
        depository.depositNative{value: coin}(address(0), id);
        depository.depositErc20(address(0), address(token), amount, id);
        native += coin;
        tokens += amount;
    }

    function pay(uint64 coin, uint64 amount) external {
        Call[] memory calls = new Call[](2);
        calls[0] = Call(address(intruder), "", coin, false);
        calls[1] = Call(address(token), abi.encodeCall(HostileToken.transfer, (address(7), amount)), 0, false);
        CallRequest memory request = _request(calls, ++nonce);
        last = abi.encode(request);
        depository.execute(request, _signed(request));
        native -= coin;
        tokens -= amount;
    }

    function replay(uint64 coin) external {
        CallRequest memory request = abi.decode(last, (CallRequest));
        bytes memory signature = _signed(request);
        if (coin % 2 == 0) request.calls[0].value = coin;
        bool wasUsed = depository.callRequests(depository.hashCallRequest(request));
        depository.execute(request, signature);
        if (wasUsed || coin % 2 == 0) replayed = true;
        native -= request.calls[0].value;
    }
}

contract DepositoryInvariants is Base {
    DepositoryHandler private handler;

    function setUp() public {
        handler = new DepositoryHandler();
    }

    function targetContracts() external view returns (address[] memory list) {
        list = new address[](1);
        list[0] = address(handler);
    }

    function invariant_holdsWhatWasDepositedLessWhatWasSigned() public view {
        (Depository depository, HostileToken token) = handler.parts();
        check(!handler.replayed(), "a request was executed twice, or changed");
        same(address(depository).balance, handler.native(), "coin");
        same(token.balanceOf(address(depository)), handler.tokens(), "tokens");
    }
}
