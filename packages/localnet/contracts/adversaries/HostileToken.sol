// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// A token with the habits that deployed tokens have. Whoever holds or allows nothing is served like by any
/// token; each habit is switched on by anybody. For tests only.
contract HostileToken {
    enum Habit {
        None,
        /// Calls whoever is armed while it moves, as ERC-777 hooks do.
        Callback,
        /// Keeps a hundredth of what moves.
        Fee,
        /// Moves and returns nothing.
        NoReturn,
        /// Moves nothing and returns false.
        ReturnsFalse,
        Paused,
        /// Refuses what goes to the blocked account.
        Blacklist,
        /// Refuses to change an allowance that is not zero.
        ApproveFromZero,
        /// Moves, and says false of `transfer` alone, as the most used token of Tron does.
        FalseTransfer
    }

    mapping(address holder => uint256) public balanceOf;
    mapping(address holder => mapping(address spender => uint256)) public allowance;
    Habit public habit;
    address public blocked;
    address private target;
    bytes private data;

    event Transfer(address indexed from, address indexed to, uint256 amount);

    function set(Habit habit_, address blocked_) external {
        (habit, blocked) = (habit_, blocked_);
    }

    function arm(address target_, bytes calldata data_) external {
        (target, data) = (target_, data_);
    }

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        if (habit == Habit.ApproveFromZero) {
            require(amount == 0 || allowance[msg.sender][spender] == 0, "approve from zero");
        }
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return _move(msg.sender, to, amount) && habit != Habit.FalseTransfer;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        return _move(from, to, amount);
    }

    /// Any other function, such as `permit`: calls whoever is armed.
    fallback() external {
        require(habit == Habit.Callback && target != address(0), "no such function");
        (bool ok,) = target.call(data);
        require(ok, "the hook was refused");
    }

    function _move(address from, address to, uint256 amount) private returns (bool) {
        if (habit == Habit.ReturnsFalse) return false;
        require(habit != Habit.Paused, "paused");
        require(habit != Habit.Blacklist || to != blocked, "blacklisted");
        uint256 kept = habit == Habit.Fee ? amount / 100 : 0;
        balanceOf[from] -= amount;
        balanceOf[to] += amount - kept;
        emit Transfer(from, to, amount - kept);
        if (habit == Habit.Callback && target != address(0)) {
            (bool ok,) = target.call(data);
            require(ok, "the hook was refused");
        }
        if (habit == Habit.NoReturn) {
            assembly {
                return(0, 0)
            }
        }
        return true;
    }
}
