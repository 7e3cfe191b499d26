// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {
    SpendingData,
    TransactionParts,
    Utxo
} from "../../contracts/hub/payloadBuilders/BitcoinPayloadBuilder.sol";
import {
    HyperliquidAction,
    SendAsset,
    TokenDecimals,
    UsdSend
} from "../../contracts/hub/payloadBuilders/HyperliquidPayloadBuilder.sol";
import {LighterAction, LighterTransfer} from "../../contracts/hub/payloadBuilders/LighterPayloadBuilder.sol";
import {PayloadBuilder, SubmitWithdrawRequest} from "../../contracts/hub/payloadBuilders/PayloadBuilder.sol";
import {Base} from "./Base.sol";
import {Texts} from "./Texts.sol";

contract PayloadBuildersTest is Base {
    PayloadBuilder private bitcoin;
    PayloadBuilder private solana;
    PayloadBuilder private hyperliquid;
    PayloadBuilder private lighter;

    function setUp() public {
        bitcoin = PayloadBuilder(ship("BitcoinPayloadBuilder", ""));
        solana = PayloadBuilder(ship("SolanaPayloadBuilder", abi.encode(bytes32("domain"), bytes32("vault"))));
        TokenDecimals[] memory tokens = new TokenDecimals[](1);
        tokens[0] = TokenDecimals(bytes16("token"), 5);
        hyperliquid = PayloadBuilder(ship("HyperliquidPayloadBuilder", abi.encode("Testnet", tokens)));
        lighter = PayloadBuilder(ship("LighterPayloadBuilder", abi.encode(uint64(304))));
    }

    /// What goes in is the amount less its fee, the change, and the fee: nothing else, to nobody else.
    function testFuzz_bitcoinPaysTheAmountLessItsFee(uint256 amount, uint64[4] memory values, uint8 count, uint16 rate)
        public
        view
    {
        SpendingData memory spending = SpendingData(new Utxo[](count % 5), rate);
        uint256 held = 0;
        for (uint256 i = 0; i < spending.utxos.length; ++i) {
            uint64 value = uint64(within(values[i], 0, 21e14));
            spending.utxos[i] = Utxo(keccak256(abi.encode(i)), uint32(i), value, abi.encodePacked("script", i));
            held += value;
        }
        amount = within(amount, 0, held + held / 9 + 1);
        string memory receiver = Texts.base64Of(abi.encodePacked("receiver", amount));
        bytes memory payload = bitcoin.buildPayload(0, _request("", amount, receiver, abi.encode(spending)));
        uint256 fee = uint256(rate) * (148 * spending.utxos.length + 34 * (held == amount ? 1 : 2) + 10);
        bool canPay = held > 0 && amount <= held && amount > fee;
        check(payload.length > 0 == canPay, "a payload where it can be paid");
        if (canPay) _checkTransaction(payload, spending, Amounts(amount, held - amount, fee));
    }

    struct Amounts {
        uint256 amount;
        uint256 change;
        uint256 fee;
    }

    function _checkTransaction(bytes memory payload, SpendingData memory spending, Amounts memory of_) private view {
        TransactionParts memory parts = abi.decode(payload, (TransactionParts));
        uint256 count = spending.utxos.length;
        same(parts.inputs.length, count, "inputs");
        same(parts.outputs.length, of_.change == 0 ? 1 : 2, "outputs");
        same(Texts.littleEndian(parts.outputs[0].value, 0, 8), of_.amount - of_.fee, "paid");
        same(parts.outputs[0].script, abi.encodePacked("receiver", of_.amount), "receiver");
        if (of_.change > 0) {
            same(Texts.littleEndian(parts.outputs[1].value, 0, 8), of_.change, "change");
            same(parts.outputs[1].script, spending.utxos[0].script, "payee of the change");
        }
        for (uint256 i = 0; i < count; ++i) {
            same(parts.inputs[i].txid, abi.encodePacked(spending.utxos[i].txid), "transaction of an input");
            same(Texts.littleEndian(parts.inputs[i].index, 0, 4), i, "index of an input");
            check(bitcoin.hashToSign(0, "", payload, uint32(i)) != 0, "no hash of an input");
        }
        check(bitcoin.hashToSign(0, "", payload, uint32(count)) == 0, "a hash of no input");
    }

    function testFuzz_solanaNamesReceiverTokenAndAmount(
        bytes32 id,
        bytes32 receiver,
        bytes32 token,
        uint256 amount,
        bool isNative
    ) public {
        vm.warp(1e9);
        amount = amount % 2 == 0 ? amount : uint64(amount);
        string memory currency = isNative ? "" : Texts.hexOf(abi.encodePacked(token));
        bytes memory payload =
            solana.buildPayload(id, _request(currency, amount, Texts.hexOf(abi.encodePacked(receiver)), ""));
        if (amount > type(uint64).max) return same(payload.length, 0, "length");
        uint256 at = isNative ? 65 : 97;
        same(payload.length, at + 56, "length");
        check(Texts.wordAt(payload, 0) == bytes32("domain"), "domain");
        check(Texts.wordAt(payload, 32) == receiver, "receiver");
        same(uint8(payload[64]), isNative ? 0 : 1, "kind of the currency");
        if (!isNative) check(Texts.wordAt(payload, 65) == token, "token");
        same(Texts.littleEndian(payload, at, 8), amount, "amount");
        same(Texts.littleEndian(payload, at + 8, 8), uint64(uint256(id)), "nonce");
        same(Texts.littleEndian(payload, at + 16, 8), 1e9 + 300, "expiry");
        check(Texts.wordAt(payload, at + 24) == bytes32("vault"), "vault");
        check(solana.hashToSign(0, "", payload, 0) == sha256(payload), "hash");
    }

    function testFuzz_hyperliquidNamesReceiverTokenAndAmount(uint128 amount, address receiver, uint64 time, bool isUsd)
        public
        view
    {
        string memory to = Texts.hexOf(receiver);
        string memory token = string.concat("TOK:0x", Texts.hexOf(abi.encodePacked(bytes16("token"))));
        bytes memory data = isUsd ? abi.encode(time) : abi.encode(time, "spot", "spot");
        bytes memory payload = hyperliquid.buildPayload(0, _request(isUsd ? "" : token, amount, to, data));
        HyperliquidAction memory action = abi.decode(payload, (HyperliquidAction));
        same(action.actionType, isUsd ? 0 : 1, "type");
        string memory text;
        if (isUsd) {
            UsdSend memory send = abi.decode(action.parameters, (UsdSend));
            same(bytes(send.destination), bytes(to), "receiver");
            same(send.time, time, "time");
            text = send.amount;
        } else {
            SendAsset memory send = abi.decode(action.parameters, (SendAsset));
            same(bytes(send.destination), bytes(to), "receiver");
            same(bytes(send.token), bytes(token), "token");
            same(send.nonce, time, "time");
            text = send.amount;
        }
        (uint256 value, uint256 decimals) = Texts.digitsOf(text);
        same(value, amount, "amount");
        same(decimals, isUsd ? 8 : 5, "decimals");
        check(hyperliquid.hashToSign(0, "", payload, 0) != 0, "no hash");
    }

    function testFuzz_hyperliquidPaysNoUnknownTokenOrDex(bytes16 token, bytes4 dex, bytes4 other) public view {
        vm.assume(token != bytes16("token") && other != dex);
        string memory known = string.concat("TOK:0x", Texts.hexOf(abi.encodePacked(bytes16("token"), dex)));
        string memory unknown = string.concat("TOK:0x", Texts.hexOf(abi.encodePacked(token)));
        string memory to = Texts.hexOf(address(1));
        bytes memory named = abi.encode(uint64(1), string(abi.encodePacked(dex)), string(abi.encodePacked(dex)));
        bytes memory wrong = abi.encode(uint64(1), string(abi.encodePacked(dex)), string(abi.encodePacked(other)));
        check(hyperliquid.buildPayload(0, _request(known, 1, to, named)).length > 0, "the dex of the token");
        same(hyperliquid.buildPayload(0, _request(known, 1, to, wrong)).length, 0, "another dex");
        bytes memory spot = abi.encode(uint64(1), "spot", "spot");
        same(hyperliquid.buildPayload(0, _request(unknown, 1, to, spot)).length, 0, "another token");
    }

    function testFuzz_lighterNamesAccountsAssetAndAmount(uint256 amount, uint64[8] memory of_, bytes32 memo, uint8 kind)
        public
        view
    {
        amount = amount % 2 == 0 ? amount : uint64(amount);
        kind = kind % 2;
        SubmitWithdrawRequest memory request = _request(
            Texts.decimalOf(of_[0]),
            amount,
            Texts.decimalOf(of_[1]),
            abi.encode(kind, of_[3], of_[4], of_[5], of_[6], of_[7], memo)
        );
        request.depository = Texts.decimalOf(of_[2]);
        bytes memory payload = lighter.buildPayload(0, request);
        if (kind != 0 || amount > type(uint64).max) return same(payload.length, 0, "length");
        LighterAction memory action = abi.decode(payload, (LighterAction));
        LighterTransfer memory expected = LighterTransfer(
            of_[3], of_[2], of_[4], of_[6], of_[1], of_[5], of_[0], uint64(amount), of_[7], 304, memo
        );
        same(action.actionType, 0, "type");
        same(action.parameters, abi.encode(expected), "transfer");
        check(lighter.hashToSign(0, "", payload, 0) != 0, "no hash");
    }

    /// What is signed is another for every other payload.
    function testFuzz_hashesDifferWithTheAmount(uint64 amount, uint64 other) public view {
        vm.assume(amount != other);
        bytes32[2] memory hashes;
        bytes32[2] memory usd;
        bytes32[2] memory transfers;
        for (uint256 i = 0; i < 2; ++i) {
            uint64 each = i == 0 ? amount : other;
            SubmitWithdrawRequest memory request =
                _request("", each, Texts.hexOf(abi.encodePacked(bytes32("receiver"))), "");
            hashes[i] = solana.hashToSign(0, "", solana.buildPayload(0, request), 0);
            request = _request("", each, Texts.hexOf(address(1)), abi.encode(uint64(1)));
            usd[i] = hyperliquid.hashToSign(0, "", hyperliquid.buildPayload(0, request), 0);
            request = _request("1", each, "2", abi.encode(0, 1, 1, 1, 1, 1, bytes32(0)));
            request.depository = "3";
            transfers[i] = lighter.hashToSign(0, "", lighter.buildPayload(0, request), 0);
        }
        check(hashes[0] != hashes[1], "solana");
        check(usd[0] != usd[1], "hyperliquid");
        check(transfers[0] != transfers[1], "lighter");
    }

    /// Addresses and numbers have one spelling; what has another is refused.
    function testFuzz_malformedTextsAreRefused(uint8 place, uint8 character) public {
        vm.assume(character < 0x80 && !_isHex(character));
        bytes memory text = bytes(Texts.hexOf(abi.encodePacked(bytes32("receiver"))));
        text[place % 64] = bytes1(character);
        vm.expectRevert();
        solana.buildPayload(0, _request("", 1, string(text), ""));
        text = bytes(Texts.hexOf(address(0xabc)));
        text[2 + place % 40] = bytes1(character);
        vm.expectRevert();
        hyperliquid.buildPayload(0, _request("", 1, string(text), abi.encode(uint64(1))));
        SubmitWithdrawRequest memory request = _request("01", 1, "2", abi.encode(0, 1, 1, 1, 1, 1, bytes32(0)));
        request.depository = "3";
        vm.expectRevert();
        lighter.buildPayload(0, request);
    }

    function _isHex(uint8 character) private pure returns (bool) {
        return (character >= 48 && character <= 57) || (character >= 65 && character <= 70)
            || (character >= 97 && character <= 102);
    }

    function _request(string memory currency, uint256 amount, string memory receiver, bytes memory data)
        private
        pure
        returns (SubmitWithdrawRequest memory request)
    {
        (request.currency, request.amount, request.receiver, request.data) = (currency, amount, receiver, data);
    }
}
