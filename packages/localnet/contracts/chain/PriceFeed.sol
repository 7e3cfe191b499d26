// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Owned} from "../shared/Owned.sol";

/// USD price with 8 decimals behind the AggregatorV3 interface. The owner is the keeper that moves it.
/// Only the latest round is kept, in one slot, so that publishing it again costs one storage write.
contract PriceFeed is Owned {
    struct Round {
        int112 answer;
        uint64 updatedAt;
        uint80 id;
    }

    uint8 public constant decimals = 8;
    uint256 public constant version = 4;
    string public description;
    Round private latest;

    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    error NoDataPresent();
    error AnswerTooLarge();

    constructor(string memory description_) {
        description = description_;
    }

    function initialize(address keeper, int256 answer) external {
        _initializeOwner(keeper);
        _publish(answer);
    }

    /// Any value is accepted, zero and negative ones too: readers must refuse them.
    function setAnswer(int256 answer) external onlyOwner {
        _publish(answer);
    }

    /// The same answer in a new round with the current time.
    function touch() external onlyOwner {
        _publish(latest.answer);
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        return getRoundData(latest.id);
    }

    function getRoundData(uint80 roundId)
        public
        view
        returns (uint80, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)
    {
        Round memory round = latest;
        if (round.id == 0 || roundId != round.id) revert NoDataPresent();
        return (round.id, round.answer, round.updatedAt, round.updatedAt, round.id);
    }

    function _publish(int256 answer) private {
        int112 stored = int112(answer);
        if (stored != answer) revert AnswerTooLarge();
        uint80 roundId = latest.id + 1;
        latest = Round(stored, uint64(block.timestamp), roundId);
        emit AnswerUpdated(answer, roundId, block.timestamp);
    }
}
