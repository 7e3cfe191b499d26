// Calls of routers and of what settlement stands on, with fixed parties: their gas is the same in every run.
import {
  allocatorAbi,
  depositAddressesAbi,
  depositRouterAbi,
  genericMappingAbi,
  hubOracleAbi,
} from '@causeway/contracts'
import {
  bytesToHex,
  depositAddressOf,
  encodeSignedDeposit,
  type Hex,
  permitTypedData,
  signingDigest,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { concatHex, encodeAbiParameters, encodeFunctionData, maxUint256, zeroAddress } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import type { ChainDeployment, HubDeployment } from '../../src/contracts/deployment.ts'
import { executeCallData } from '../../src/deploy/callRequest.ts'
import { userChainPlan } from '../../src/deploy/contractPlan.ts'
import type { LocalAccount } from '../../src/keys/localKeys.ts'
import { swapRouterAbi } from '../../src/uniswap/abis.ts'
import type { ContractBench } from './contractBench.ts'
import { depositOrder, signedOrder } from './depositOrders.ts'

/** Full words, so that zero bytes cost nothing less. */
const word = (byte: string): Hex => `0x${byte.repeat(32)}`
const laterSeconds = 4_000_000_000
const amount = 1_000_000n

/** 1 USDC becomes a deposit of TIDE. The router is allowed to take it. */
export function swapAndDeposit({ deployment }: ContractBench<ChainDeployment>, depositor: Hex): Hex {
  const { tokens, depositRouter } = deployment
  const swapData = encodeFunctionData({
    abi: swapRouterAbi,
    functionName: 'exactInputSingle',
    args: [
      {
        ...{ tokenIn: tokens.USDC, tokenOut: tokens.TIDE, fee: 3_000, recipient: depositRouter },
        ...{ deadline: maxUint256, amountIn: amount, amountOutMinimum: 0n, sqrtPriceLimitX96: 0n },
      },
    ],
  })
  const request = { tokenIn: tokens.USDC, tokenOut: tokens.TIDE, amountIn: amount, minAmountOut: 1n }
  return encodeFunctionData({
    abi: depositRouterAbi,
    functionName: 'swapAndDeposit',
    args: [{ ...request, depositor, id: word('0d'), swapData }],
  })
}

/** A deposit that the owner of the token signed for one order. */
export async function permittedDeposit(
  { deployment, chain }: ContractBench<ChainDeployment>,
  owner: LocalAccount,
  kind: 'eip3009' | 'eip2612',
): Promise<Hex> {
  const shared = {
    ...{ token: deployment.tokens.USDC, owner: owner.address, amount, deadlineSeconds: laterSeconds },
    orderId: word(kind === 'eip3009' ? '3c' : '26'),
    domain: { name: 'USD Coin', version: '2', chainId: chain.chainId },
    router: deployment.permitRouter,
  }
  const terms = kind === 'eip3009' ? { ...shared, kind } : { ...shared, kind, nonce: 0n }
  const { value: message, ...typed } = permitTypedData(terms)
  const signature = await privateKeyToAccount(owner.privateKey).signTypedData({ ...typed, message })
  return encodeSignedDeposit(kind, terms, signature)
}

/** What lies at a deposit address becomes the deposit of its order. */
export async function sweep(
  { deployment }: ContractBench<ChainDeployment>,
  parties: { readonly signer: LocalAccount; readonly sweeper: LocalAccount; readonly recipient: Hex },
): Promise<{ readonly address: Hex; readonly data: Hex }> {
  const { signer, sweeper, recipient } = parties
  const terms = {
    ...{ orderSigner: signer.address, sweeper: sweeper.address, depositor: recipient, nonce: word('5e') },
  }
  const address = depositAddressOf(terms, deployment.depositAddresses)
  const order = depositOrder(address, { solver: signer.address, recipient })
  const { words, orderSignature } = await signedOrder(order, signer)
  const struct = { ...words, solver: signer.address, salt: BigInt(words.salt) }
  const args = [terms, struct, orderSignature, zeroAddress] as const
  return { address, data: encodeFunctionData({ abi: depositAddressesAbi, functionName: 'sweep', args }) }
}

/** The allocator pays one native amount out of the depository. */
export function payout(bench: ContractBench<ChainDeployment>, recipient: Hex): Promise<Hex> {
  const { chain, deployment, keys } = bench
  const calls = [{ to: recipient, data: '0x', value: 1n, allowFailure: false }] as const
  return executeCallData({
    ...{ chainId: chain.chainId, depository: deployment.depository },
    allocator: privateKeyToAccount(keys.allocator.privateKey),
    request: { calls, nonce: 7n, expiration: maxUint256 },
  })
}

const uint8 = { type: 'uint8' } as const
const address = { type: 'address' } as const
const uint256 = { type: 'uint256' } as const
const token = BigInt(word('a7'))

/** Balances that two oracles sign: minted, given on, burned. */
export async function execution(
  bench: ContractBench<HubDeployment>,
  kind: 'mint' | 'transfer' | 'burn',
  [from, to]: readonly [Hex, Hex],
): Promise<Hex> {
  const action = {
    mint: encodeAbiParameters([uint8, address, uint256, uint256], [0, from, token, amount]),
    transfer: encodeAbiParameters(
      [uint8, address, address, uint256, uint256],
      [2, from, to, token, amount / 4n],
    ),
    burn: encodeAbiParameters([uint8, address, uint256, uint256], [1, from, token, amount / 4n]),
  }[kind]
  const message = {
    idempotencyKey: word({ mint: 'e1', transfer: 'e2', burn: 'e3' }[kind]),
    actions: [action],
  }
  const { oracle, oracleMultisig } = bench.deployment
  const signatures = await Promise.all(
    twoOracles(bench).map(({ privateKey }) =>
      privateKeyToAccount(privateKey).signTypedData({
        domain: {
          name: 'RelayOracle',
          version: '2',
          chainId: bench.chain.chainId,
          verifyingContract: oracle,
        },
        types: {
          Execution: [
            { name: 'idempotencyKey', type: 'bytes32' },
            { name: 'actions', type: 'bytes[]' },
          ],
        },
        primaryType: 'Execution',
        message,
      }),
    ),
  )
  const args = [message, oracleMultisig, concatHex(signatures)] as const
  return encodeFunctionData({ abi: hubOracleAbi, functionName: 'execute', args })
}

/** A withdrawal that two oracles signed, and the storing of its signature. */
export async function withdrawal(bench: ContractBench<HubDeployment>, receiver: Hex) {
  const request = {
    ...{ chainId: 8_453n, depository: userChainPlan(bench.artifacts).depository.address },
    ...{ currency: zeroAddress, amount, spender: receiver, recipient: receiver },
    ...({ data: '0x', nonce: word('42') } as const),
  }
  const domain = { chainId: bench.chain.chainId, verifyingContract: bench.deployment.allocator }
  const hash = bytesToHex(signingDigest({ purpose: 'withdraw-request', domain, request }))
  const signatures = await Promise.all(
    twoOracles(bench).map(({ privateKey }) => sign({ hash, privateKey, to: 'hex' })),
  )
  const { recipient, ...rest } = request
  return {
    submit: encodeFunctionData({
      ...{ abi: allocatorAbi, functionName: 'submitWithdrawRequest' },
      args: [{ ...rest, receiver: recipient }, concatHex(signatures)],
    }),
    store: encodeFunctionData({
      ...{ abi: allocatorAbi, functionName: 'storeSignature' },
      args: [withdrawRequestPayloadId(request), word('77'), concatHex([word('71'), word('72'), '0x1b'])],
    }),
  }
}

export function entry(): Hex {
  const args = [word('1d'), word('da')] as const
  return encodeFunctionData({ abi: genericMappingAbi, functionName: 'setEntry', args })
}

/** By ascending address, as the multisig wants them. */
function twoOracles({ keys }: ContractBench<HubDeployment>): readonly LocalAccount[] {
  return [...keys.oracles].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1)).slice(0, 2)
}
