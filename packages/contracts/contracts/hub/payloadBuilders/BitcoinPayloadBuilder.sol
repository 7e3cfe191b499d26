// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PayloadBuilder, RequestText, SubmitWithdrawRequest} from "./PayloadBuilder.sol";

struct Utxo {
    /// As transactions hold it: the reverse of the id that explorers show.
    bytes32 txid;
    uint32 index;
    uint64 value;
    bytes script;
}

struct SpendingData {
    Utxo[] utxos;
    /// Satoshi per byte.
    uint64 feeRate;
}

struct TransactionInput {
    bytes txid;
    bytes index;
    bytes script;
    bytes value;
}

struct TransactionOutput {
    bytes value;
    bytes script;
}

struct TransactionParts {
    TransactionInput[] inputs;
    TransactionOutput[] outputs;
}

/// Transactions of the depository: the receiver's output, less the fee, and the change. Numbers inside are
/// little-endian, as the transaction has them.
contract BitcoinPayloadBuilder is PayloadBuilder {
    function family() external pure returns (string memory) {
        return "bitcoin-vm";
    }

    /// Empty when the outputs that the request names do not hold the amount, or the amount does not cover the fee.
    function buildPayload(bytes32, SubmitWithdrawRequest calldata request) external pure returns (bytes memory) {
        SpendingData memory spending = abi.decode(request.data, (SpendingData));
        uint256 count = spending.utxos.length;
        TransactionInput[] memory inputs = new TransactionInput[](count);
        uint256 held = 0;
        for (uint256 i = 0; i < count; ++i) {
            Utxo memory utxo = spending.utxos[i];
            held += utxo.value;
            inputs[i] = TransactionInput(
                abi.encodePacked(utxo.txid),
                RequestText.littleEndian(utxo.index, 4),
                utxo.script,
                RequestText.littleEndian(utxo.value, 8)
            );
        }
        if (count == 0 || held < request.amount) return "";
        uint256 change = held - request.amount;
        TransactionOutput[] memory outputs = new TransactionOutput[](change == 0 ? 1 : 2);
        // Usual sizes in bytes: 148 of an input, 34 of an output, 10 of the rest.
        uint256 fee = uint256(spending.feeRate) * (148 * count + 34 * outputs.length + 10);
        if (request.amount <= fee) return "";
        outputs[0] = TransactionOutput(
            RequestText.littleEndian(uint64(request.amount - fee), 8), RequestText.fromBase64(request.receiver)
        );
        if (change != 0) {
            outputs[1] =
                TransactionOutput(RequestText.littleEndian(uint64(change), 8), spending.utxos[0].script);
        }
        return abi.encode(TransactionParts(inputs, outputs));
    }

    /// Hash for the input at `index`. It covers all inputs and outputs (SIGHASH_ALL).
    function hashToSign(uint256, string calldata, bytes calldata payload, uint32 index)
        external
        pure
        returns (bytes32)
    {
        TransactionParts memory parts = abi.decode(payload, (TransactionParts));
        if (index >= parts.inputs.length) return 0;
        // The version, 1, stands in front, and behind each input its sequence, final. Only the signed input
        // has a script.
        bytes memory text = abi.encodePacked(hex"01000000", _size(parts.inputs.length));
        for (uint256 i = 0; i < parts.inputs.length; ++i) {
            TransactionInput memory input = parts.inputs[i];
            bytes memory script = i == index ? input.script : bytes("");
            text =
                abi.encodePacked(text, input.txid, input.index, _size(script.length), script, hex"ffffffff");
        }
        text = abi.encodePacked(text, _size(parts.outputs.length));
        for (uint256 i = 0; i < parts.outputs.length; ++i) {
            TransactionOutput memory output = parts.outputs[i];
            text = abi.encodePacked(text, output.value, _size(output.script.length), output.script);
        }
        // Behind the outputs stand the lock time, 0, and the number of SIGHASH_ALL, 1, of four bytes each.
        return sha256(abi.encodePacked(sha256(abi.encodePacked(text, hex"0000000001000000"))));
    }

    /// Bitcoin's integer of variable length, in its shortest form, for values of at most two bytes.
    function _size(uint256 value) private pure returns (bytes memory) {
        if (value < 0xfd) return RequestText.littleEndian(uint64(value), 1);
        return abi.encodePacked(hex"fd", RequestText.littleEndian(uint64(value), 2));
    }
}
