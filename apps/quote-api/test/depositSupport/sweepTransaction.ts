// A deposit address with the transaction that empties it, as the solver would send it.

import { type Hex, type Order, orderId, orderWords } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import {
  type DepositSwapTerms,
  depositAddressOf,
  depositOrderSalt,
  depositSwapSalt,
} from '@causeway/families/rules'
import { depositAddressesAbi, type TestNetwork } from '@causeway/localnet'
import { encodeFunctionData, zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

const networkOf = () => mainNetwork('ethereum-vm')

type Swap = {
  readonly price: DepositSwapTerms
  readonly swapData: Hex
}

/**
 * @param token swept beside the native coin
 * @param swap of all that its price is for, before the deposit
 */
export async function sweepTransaction(
  { deployment, keys }: TestNetwork,
  token: Hex = zeroAddress,
  swap?: Swap,
) {
  const { contract } = deployment.base.depositAddresses
  const signer = privateKeyToAccount(keys.orderSigner.privateKey)
  const terms = {
    orderSigner: signer.address,
    sweeper: keys.fillWallet.address,
    depositor: keys.deployer.address,
    nonce: generatePrivateKey(),
  }
  const address = depositAddressOf(terms, deployment.base.depositAddresses)
  const order: Order = {
    version: 'v1',
    solverChainId: 'base',
    solver: signer.address,
    salt:
      swap === undefined
        ? depositOrderSalt(address, new Uint8Array(12))
        : depositSwapSalt(address, swap.price),
    inputs: [],
    output: { chainId: 'optimism', payments: [], calls: [], deadline: 2_000_000_000, extraData: '0x' },
    fees: [],
  }
  const orderSignature = await signer.signMessage({ message: { raw: orderId(order, networkOf) } })
  const words = orderWords(order, networkOf)
  const struct = { ...words, solver: signer.address, salt: BigInt(words.salt) }
  const abi = depositAddressesAbi
  const swept = [terms, struct, orderSignature] as const
  if (swap === undefined) {
    const data = encodeFunctionData({ abi, functionName: 'sweep', args: [...swept, token] })
    return { address, transaction: { to: contract, data } }
  }
  const { amountOutMin: minAmountOut, ...price } = swap.price
  const args = [...swept, { ...price, minAmountOut }, price.amountIn, swap.swapData] as const
  return {
    address,
    transaction: { to: contract, data: encodeFunctionData({ abi, functionName: 'sweepAndSwap', args }) },
  }
}
