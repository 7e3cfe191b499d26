// A deposit address with the transaction that empties it, as the solver would send it.
import {
  depositAddressOf,
  depositOrderSalt,
  type Hex,
  mainNetwork,
  type Order,
  orderId,
  orderWords,
} from '@causeway/core'
import { depositAddressesAbi, type TestNetwork } from '@causeway/localnet'
import { encodeFunctionData, zeroAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

const networkOf = () => mainNetwork('ethereum-vm')

/** @param token swept beside the native coin */
export async function sweepTransaction({ deployment, keys }: TestNetwork, token: Hex = zeroAddress) {
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
    salt: depositOrderSalt(address, new Uint8Array(12)),
    inputs: [],
    output: { chainId: 'optimism', payments: [], calls: [], deadline: 2_000_000_000, extraData: '0x' },
    fees: [],
  }
  const orderSignature = await signer.signMessage({ message: { raw: orderId(order, networkOf) } })
  const words = orderWords(order, networkOf)
  const struct = { ...words, solver: signer.address, salt: BigInt(words.salt) }
  const data = encodeFunctionData({
    abi: depositAddressesAbi,
    functionName: 'sweep',
    args: [terms, struct, orderSignature, token],
  })
  return { address, transaction: { to: contract, data } }
}
