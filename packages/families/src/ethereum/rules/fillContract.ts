import { contractInterface } from './contractInterface.ts'

/**
 * Functions of the fill contract, except `fill`, which also runs an order's calls. The contract keeps for each fill
 * wallet and id whether it is open, paid or closed. @source FillContract.sol
 */
export const fillContractCalls = contractInterface([
  'function pay(bytes32 id, uint256 deadline, (address to, uint256 amount)[] natives, (address token, address to, uint256 amount)[] tokens) payable',
  'function close(bytes32 id)',
  'function stateOf(address filler, bytes32 id) view returns (uint8)',
])
