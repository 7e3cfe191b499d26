// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PayloadBuilder, RequestText, SubmitWithdrawRequest} from "./PayloadBuilder.sol";

struct TokenDecimals {
    bytes16 token;
    uint8 decimals;
}

struct UsdSend {
    string hyperliquidChain;
    string destination;
    string amount;
    uint64 time;
}

struct SendAsset {
    string hyperliquidChain;
    string destination;
    string sourceDex;
    string destinationDex;
    string token;
    string amount;
    string fromSubAccount;
    uint64 nonce;
}

struct HyperliquidAction {
    uint8 actionType;
    bytes parameters;
}

/// Actions of the exchange: perps USDC as `UsdSend`, every other token as `SendAsset`. Their time, which is
/// their nonce, comes from the request's `data`: an action has no place for the payload's id.
contract HyperliquidPayloadBuilder is PayloadBuilder {
    uint8 public constant USD_SEND = 0;
    uint8 public constant SEND_ASSET = 1;
    uint8 public constant USD_DECIMALS = 8;
    /// Wallets of the exchange sign under the chain id of Arbitrum and no contract.
    bytes32 private constant DOMAIN_SEPARATOR = keccak256(
        abi.encode(
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
            keccak256("HyperliquidSignTransaction"),
            keccak256("1"),
            uint256(42161),
            address(0)
        )
    );
    bytes32 private constant USD_SEND_TYPEHASH = keccak256(
        "HyperliquidTransaction:UsdSend(string hyperliquidChain,string destination,string amount,uint64 time)"
    );
    bytes32 private constant SEND_ASSET_TYPEHASH = keccak256(
        "HyperliquidTransaction:SendAsset(string hyperliquidChain,string destination,string sourceDex,"
        "string destinationDex,string token,string amount,string fromSubAccount,uint64 nonce)"
    );

    /// `Mainnet` or `Testnet`.
    string public hyperliquidChain;
    /// One more than the decimals; zero for a token that is not paid.
    mapping(bytes16 token => uint8) public decimalsPlusOne;

    constructor(string memory hyperliquidChain_, TokenDecimals[] memory tokens) {
        hyperliquidChain = hyperliquidChain_;
        for (uint256 i = 0; i < tokens.length; ++i) {
            decimalsPlusOne[tokens[i].token] = tokens[i].decimals + 1;
        }
    }

    function family() external pure returns (string memory) {
        return "hyperliquid-vm";
    }

    /// Empty for a token whose decimals are not known, or whose dex is not the one that `data` names.
    function buildPayload(bytes32, SubmitWithdrawRequest calldata request) external view returns (bytes memory) {
        // Reverts for a malformed receiver; actions take the text itself.
        RequestText.toAddress(request.receiver);
        // No currency stands for perps USDC.
        if (bytes(request.currency).length == 0) {
            uint64 time = abi.decode(request.data, (uint64));
            string memory amount = _decimal(request.amount, USD_DECIMALS);
            UsdSend memory send = UsdSend(hyperliquidChain, request.receiver, amount, time);
            return abi.encode(HyperliquidAction(USD_SEND, abi.encode(send)));
        }
        return _sendAsset(request);
    }

    function hashToSign(uint256, string calldata, bytes calldata payload, uint32 index)
        external
        pure
        returns (bytes32)
    {
        if (index != 0) return 0;
        HyperliquidAction memory action = abi.decode(payload, (HyperliquidAction));
        bytes32 structHash =
            action.actionType == USD_SEND ? _usdSendHash(action.parameters) : _sendAssetHash(action.parameters);
        return keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR, structHash));
    }

    function _sendAsset(SubmitWithdrawRequest calldata request) private view returns (bytes memory) {
        (string memory token, bytes16 tokenId, bytes memory dex) = _readCurrency(request.currency);
        (uint64 time, string memory from, string memory to) =
            abi.decode(request.data, (uint64, string, string));
        // A token stays on its dex: `data` must name it twice, as `spot` where the currency names none.
        bytes32 dexHash = keccak256(dex.length == 0 ? bytes("spot") : dex);
        if (keccak256(bytes(from)) != dexHash || keccak256(bytes(to)) != dexHash) return "";
        uint8 plusOne = decimalsPlusOne[tokenId];
        if (plusOne == 0) return "";
        string memory amount = _decimal(request.amount, plusOne - 1);
        SendAsset memory send =
            SendAsset(hyperliquidChain, request.receiver, from, to, token, amount, "", time);
        return abi.encode(HyperliquidAction(SEND_ASSET, abi.encode(send)));
    }

    /// `SYMBOL:0x`, 16 bytes of the token, then those of its dex's name.
    function _readCurrency(string calldata currency)
        private
        pure
        returns (string memory token, bytes16 tokenId, bytes memory dex)
    {
        bytes calldata text = bytes(currency);
        uint256 colon = 0;
        while (colon < text.length && text[colon] != ":") ++colon;
        // The digits begin behind `:0x`; behind those of the token there may be whole bytes alone.
        uint256 start = colon + 3;
        if (text.length < start + 32 || text.length % 2 != (start + 32) % 2) revert RequestText.MalformedText();
        if (text[colon + 1] != "0" || text[colon + 2] != "x") revert RequestText.MalformedText();
        uint128 value = 0;
        for (uint256 i = start; i < start + 32; ++i) value = value * 16 + RequestText.digit(text[i]);
        dex = new bytes((text.length - start - 32) / 2);
        for (uint256 i = 0; i < dex.length; ++i) {
            uint256 place = start + 32 + 2 * i;
            dex[i] = bytes1(RequestText.digit(text[place]) * 16 + RequestText.digit(text[place + 1]));
        }
        return (string(text[:start + 32]), bytes16(value), dex);
    }

    function _usdSendHash(bytes memory parameters) private pure returns (bytes32) {
        UsdSend memory send = abi.decode(parameters, (UsdSend));
        return keccak256(
            abi.encode(
                USD_SEND_TYPEHASH,
                keccak256(bytes(send.hyperliquidChain)),
                keccak256(bytes(send.destination)),
                keccak256(bytes(send.amount)),
                send.time
            )
        );
    }

    function _sendAssetHash(bytes memory parameters) private pure returns (bytes32) {
        SendAsset memory send = abi.decode(parameters, (SendAsset));
        return keccak256(
            abi.encode(
                SEND_ASSET_TYPEHASH,
                keccak256(bytes(send.hyperliquidChain)),
                keccak256(bytes(send.destination)),
                keccak256(bytes(send.sourceDex)),
                keccak256(bytes(send.destinationDex)),
                keccak256(bytes(send.token)),
                keccak256(bytes(send.amount)),
                keccak256(bytes(send.fromSubAccount)),
                send.nonce
            )
        );
    }

    /// With all its decimals, as readers of the exchange's actions expect them.
    function _decimal(uint256 amount, uint8 decimals) private pure returns (string memory) {
        uint256 scale = 10 ** decimals;
        if (decimals == 0) return RequestText.toDecimal(amount, 1);
        return string.concat(
            RequestText.toDecimal(amount / scale, 1), ".", RequestText.toDecimal(amount % scale, decimals)
        );
    }
}
