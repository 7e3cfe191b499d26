// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CompressedSize} from "./CompressedSize.sol";

/// What an OP-stack chain charges beside its own gas: the L1 data fee by the Fjord formula and the
/// operator fee by the Isthmus formula. It is placed as code without a constructor, so the node writes
/// the storage words directly: word 0 the keeper, word 1 `l1BaseFee`, word 2 `blobBaseFee`, word 3 from
/// the low end `baseFeeScalar`, `blobBaseFeeScalar`, `operatorFeeScalar` (32 bits each) and
/// `operatorFeeConstant` (64 bits).
contract GasPriceOracle {
    address public keeper;
    uint256 public l1BaseFee;
    uint256 public blobBaseFee;
    uint32 public baseFeeScalar;
    uint32 public blobBaseFeeScalar;
    uint32 public operatorFeeScalar;
    uint64 public operatorFeeConstant;

    uint256 public constant decimals = 6;
    bool public constant isEcotone = true;
    bool public constant isFjord = true;
    bool public constant isIsthmus = true;
    bool public constant isJovian = false;

    /// Bytes that a signature adds to an unsigned transaction.
    uint256 private constant SIGNATURE_BYTES = 68;
    /// Linear fit of the compressed size, and its floor; all in millionths of a byte.
    int256 private constant COST_INTERCEPT = -42_585_600;
    int256 private constant COST_PER_COMPRESSED_BYTE = 836_500;
    int256 private constant MIN_TRANSACTION_SIZE = 100_000_000;

    error NotKeeper();

    modifier onlyKeeper() {
        if (msg.sender != keeper) revert NotKeeper();
        _;
    }

    function setL1BaseFee(uint256 l1BaseFee_) external onlyKeeper {
        l1BaseFee = l1BaseFee_;
    }

    function setBlobBaseFee(uint256 blobBaseFee_) external onlyKeeper {
        blobBaseFee = blobBaseFee_;
    }

    function setScalars(uint32 baseFeeScalar_, uint32 blobBaseFeeScalar_) external onlyKeeper {
        baseFeeScalar = baseFeeScalar_;
        blobBaseFeeScalar = blobBaseFeeScalar_;
    }

    function setOperatorFee(uint32 scalar, uint64 constant_) external onlyKeeper {
        operatorFeeScalar = scalar;
        operatorFeeConstant = constant_;
    }

    /// Wei for an unsigned, serialized transaction.
    function getL1Fee(bytes memory unsignedTransaction) external view returns (uint256) {
        return _l1Fee(CompressedSize.fastLz(unsignedTransaction) + SIGNATURE_BYTES);
    }

    /// Wei that transactions of this size stay below in practice; nothing but random bytes costs more.
    function getL1FeeUpperBound(uint256 unsignedTxSize) external view returns (uint256) {
        uint256 size = unsignedTxSize + SIGNATURE_BYTES;
        return _l1Fee(size + size / 255 + 16);
    }

    function getOperatorFee(uint256 gasUsed) external view returns (uint256) {
        return gasUsed * operatorFeeScalar / 1e6 + operatorFeeConstant;
    }

    function gasPrice() external view returns (uint256) {
        return block.basefee;
    }

    function baseFee() external view returns (uint256) {
        return block.basefee;
    }

    function _l1Fee(uint256 compressedBytes) private view returns (uint256) {
        int256 fitted = COST_INTERCEPT + COST_PER_COMPRESSED_BYTE * int256(compressedBytes);
        uint256 size = uint256(fitted < MIN_TRANSACTION_SIZE ? MIN_TRANSACTION_SIZE : fitted);
        uint256 weiPerByte = uint256(baseFeeScalar) * 16 * l1BaseFee + uint256(blobBaseFeeScalar) * blobBaseFee;
        return size * weiPerByte / 1e12;
    }
}
