// Calls of routers and of what settlement stands on, with fixed parties: their gas is the same in every run.
import {
  allocatorAbi,
  cleanupRouterAbi,
  depositAddressesAbi,
  depositoryAbi,
  depositRouterAbi,
  genericMappingAbi,
  hubAbi,
  hubOracleAbi,
  oracleMultisigAbi,
} from '@causeway/contracts'
import {
  bytesToHex,
  derivedHubChainId,
  type Hex,
  type WithdrawRequest,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { createBitcoinCodec, mainNetwork, solanaCodec, tronAddress } from '@causeway/core/encodings'
import {
  depositAddressOf,
  depositSwapSalt,
  encodePermit,
  encodeSignedDeposit,
  permitTypedData,
  signingDigest,
  spelledWithdrawRequest,
} from '@causeway/families/rules'
import { concatHex, encodeAbiParameters, encodeFunctionData, erc20Abi, maxUint256, zeroAddress } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import type { Artifacts } from '../../src/contracts/artifacts.ts'
import type { ChainDeployment, HubDeployment } from '../../src/contracts/deployment.ts'
import { executeCallData } from '../../src/deploy/callRequest.ts'
import { tronPlan, userChainPlan } from '../../src/deploy/contractPlan.ts'
import {
  type FamilyKey,
  familyDepositories,
  familyKeys,
  familyPlans,
  solanaVault,
  tronChainId,
} from '../../src/families/familyPlans.ts'
import type { LocalAccount } from '../../src/keys/localKeys.ts'
import { swapRouterAbi } from '../../src/uniswap/abis.ts'
import type { ContractBench } from './contractBench.ts'
import { depositOrder, signedOrder } from './depositOrders.ts'

/** Full words, so that zero bytes cost nothing less. */
const word = (byte: string): Hex => `0x${byte.repeat(32)}`
const laterSeconds = 4_000_000_000
const amount = 1_000_000n

/** Call of the pools' router that swaps USDC to TIDE. */
function usdcToTide({ tokens, depositRouter }: ChainDeployment, amountIn: bigint): Hex {
  return encodeFunctionData({
    abi: swapRouterAbi,
    functionName: 'exactInputSingle',
    args: [
      {
        tokenIn: tokens.USDC,
        tokenOut: tokens.TIDE,
        fee: 3_000,
        recipient: depositRouter,
        deadline: maxUint256,
        amountIn,
        amountOutMinimum: 0n,
        sqrtPriceLimitX96: 0n,
      },
    ],
  })
}

/** 1 USDC becomes TIDE, as a deposit or paid out. The router is allowed to take it. */
export function swap(
  { deployment }: ContractBench<ChainDeployment>,
  kind: 'swapAndDeposit' | 'swapAndPay',
  receiver: Hex,
): Hex {
  const { tokens } = deployment
  const swapData = usdcToTide(deployment, amount)
  const request = { tokenIn: tokens.USDC, tokenOut: tokens.TIDE, amountIn: amount, minAmountOut: 1n }
  const [abi, named] = [depositRouterAbi, { ...request, id: word('0d'), swapData }]
  return kind === 'swapAndPay'
    ? encodeFunctionData({ abi, functionName: kind, args: [{ ...named, recipient: receiver }] })
    : encodeFunctionData({ abi, functionName: kind, args: [{ ...named, depositor: receiver }] })
}

/** A deposit that the owner of the token signed for one order. */
export async function permittedDeposit(
  { deployment, chain }: ContractBench<ChainDeployment>,
  owner: LocalAccount,
  kind: 'eip3009' | 'eip2612',
): Promise<Hex> {
  const shared = {
    token: deployment.tokens.USDC,
    owner: owner.address,
    amount,
    deadlineSeconds: laterSeconds,
    orderId: word(kind === 'eip3009' ? '3c' : '26'),
    domain: { name: 'USD Coin', version: '2', chainId: chain.chainId },
    router: deployment.permitRouter,
  }
  const terms = kind === 'eip3009' ? { ...shared, kind } : { ...shared, kind, nonce: 0n }
  const { value: message, ...typed } = permitTypedData(terms)
  const signature = await privateKeyToAccount(owner.privateKey).signTypedData({ ...typed, message })
  return encodeSignedDeposit(kind, terms, signature)
}

/** A deposit of USDC that its owner signed for Permit2, which he allowed to take it. */
export async function permit2Deposit(
  { deployment, chain }: ContractBench<ChainDeployment>,
  owner: LocalAccount,
  relayer: Hex,
): Promise<Hex> {
  const { depository, permit2Router: router } = deployment
  const [token, orderId] = [deployment.tokens.USDC, word('2b')]
  const approving = [depository, amount] as const
  const depositing = [owner.address, token, amount, orderId] as const
  const terms = {
    ...({ kind: 'permit2', token, owner: owner.address, amount, deadlineSeconds: laterSeconds } as const),
    orderId,
    chainId: chain.chainId,
    router,
    relayer,
    calls: [
      {
        to: token,
        value: 0n,
        data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: approving }),
      },
      {
        to: depository,
        value: 0n,
        data: encodeFunctionData({ abi: depositoryAbi, functionName: 'depositErc20', args: depositing }),
      },
    ],
  }
  const { value: message, ...typed } = permitTypedData(terms)
  const signature = await privateKeyToAccount(owner.privateKey).signTypedData({ ...typed, message })
  return encodePermit(terms, signature).data
}

/** Call that deposits the router's balance for an order. */
export function cleanupViaCall({ deployment }: ContractBench<ChainDeployment>, depositor: Hex): Hex {
  const { tokens, depository } = deployment
  const deposit = encodeFunctionData({
    abi: depositoryAbi,
    functionName: 'depositErc20',
    args: [depositor, tokens.USDC, 1_000n, word('0d')],
  })
  return encodeFunctionData({
    abi: cleanupRouterAbi,
    functionName: 'cleanupErc20sViaCall',
    args: [[tokens.USDC], [depository], [deposit], [0n]],
  })
}

/** Calls of owners and operators, each with its name and its contract. */
export function ownersCalls(
  { hub, oracleMultisig, genericMapping, allocator, evmPayloadBuilder }: HubDeployment,
  [account, other]: readonly [Hex, Hex],
): readonly (readonly [string, Hex, Hex])[] {
  const role = { abi: hubAbi, args: [word('01'), account] } as const
  return [
    ['hub: grantRole', hub, encodeFunctionData({ ...role, functionName: 'grantRole' })],
    ['hub: revokeRole', hub, encodeFunctionData({ ...role, functionName: 'revokeRole' })],
    [
      'multisig: setSigners, two for three',
      oracleMultisig,
      encodeFunctionData({
        abi: oracleMultisigAbi,
        functionName: 'setSigners',
        args: [[account, other], 2n],
      }),
    ],
    [
      'allocator: setBuilder',
      allocator,
      encodeFunctionData({
        abi: allocatorAbi,
        functionName: 'setBuilder',
        args: [1n, other, evmPayloadBuilder],
      }),
    ],
    [
      'generic mapping: setEntryFor',
      genericMapping,
      encodeFunctionData({
        abi: genericMappingAbi,
        functionName: 'setEntryFor',
        args: [account, word('e2'), word('da')],
      }),
    ],
  ]
}

/** Hands on all USDC that lies at the cleanup router. */
export function cleanup({ deployment }: ContractBench<ChainDeployment>, recipient: Hex): Hex {
  const args = [[deployment.tokens.USDC], [recipient], [0n]] as const
  return encodeFunctionData({ abi: cleanupRouterAbi, functionName: 'cleanupErc20s', args })
}

/** Sweeps a deposit address into the deposit of its order, or back to its depositor. */
export async function sweep(
  { deployment }: ContractBench<ChainDeployment>,
  parties: { readonly signer: LocalAccount; readonly sweeper: LocalAccount; readonly recipient: Hex },
  currency: Hex = zeroAddress,
): Promise<{ readonly address: Hex; readonly data: Hex; readonly withdrawing: Hex }> {
  const { signer, sweeper, recipient } = parties
  const nonce = word(currency === zeroAddress ? '5e' : '5f')
  const terms = { orderSigner: signer.address, sweeper: sweeper.address, depositor: recipient, nonce }
  const address = depositAddressOf(terms, deployment.depositAddresses)
  const order = depositOrder(address, { solver: signer.address, recipient })
  const { words, orderSignature } = await signedOrder(order, signer)
  const struct = { ...words, solver: signer.address, salt: BigInt(words.salt) }
  const args = [terms, struct, orderSignature, currency] as const
  const abi = depositAddressesAbi
  return {
    address,
    data: encodeFunctionData({ abi, functionName: 'sweep', args }),
    withdrawing: encodeFunctionData({ abi, functionName: 'withdraw', args: [terms, currency] }),
  }
}

/** 1,000 units of USDC that lie at a deposit address become the deposit of its order in TIDE. */
export async function sweepAndSwap(
  { deployment }: ContractBench<ChainDeployment>,
  {
    signer,
    sweeper,
    recipient,
  }: { readonly signer: LocalAccount; readonly sweeper: LocalAccount; readonly recipient: Hex },
): Promise<{ readonly address: Hex; readonly data: Hex }> {
  const { tokens, depositAddresses } = deployment
  const nonce = word('60')
  const terms = { orderSigner: signer.address, sweeper: sweeper.address, depositor: recipient, nonce }
  const address = depositAddressOf(terms, depositAddresses)
  const price = { tokenIn: tokens.USDC, amountIn: 1_000n, tokenOut: tokens.TIDE, amountOutMin: 1n, nonce }
  const order = {
    ...depositOrder(address, { solver: signer.address, recipient }),
    salt: depositSwapSalt(address, price),
  }
  const { words, orderSignature } = await signedOrder(order, signer)
  const struct = { ...words, solver: signer.address, salt: BigInt(words.salt) }
  const { amountOutMin: minAmountOut, ...swapped } = price
  const swapData = usdcToTide(deployment, price.amountIn)
  const args = [
    terms,
    struct,
    orderSignature,
    { ...swapped, minAmountOut },
    price.amountIn,
    swapData,
  ] as const
  const data = encodeFunctionData({ abi: depositAddressesAbi, functionName: 'sweepAndSwap', args })
  return { address, data }
}

/** The allocator pays one native amount out of the depository. */
export function payout(bench: ContractBench<ChainDeployment>, recipient: Hex): Promise<Hex> {
  const { chain, deployment, keys } = bench
  const calls = [{ to: recipient, data: '0x', value: 1n, allowFailure: false }] as const
  return executeCallData({
    chainId: chain.chainId,
    depository: deployment.depository,
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
  const args = [message, bench.deployment.oracleMultisig, await signExecution(bench, message)] as const
  return encodeFunctionData({ abi: hubOracleAbi, functionName: 'execute', args })
}

/** Two mints in one transaction. */
export async function executions(bench: ContractBench<HubDeployment>, receiver: Hex): Promise<Hex> {
  const mint = encodeAbiParameters([uint8, address, uint256, uint256], [0, receiver, token, amount])
  const messages = ['e4', 'e5'].map((byte) => ({ idempotencyKey: word(byte), actions: [mint] }))
  const signatures = await Promise.all(messages.map((message) => signExecution(bench, message)))
  const args = [messages, bench.deployment.oracleMultisig, signatures] as const
  return encodeFunctionData({ abi: hubOracleAbi, functionName: 'executeMultiple', args })
}

async function signExecution(
  bench: ContractBench<HubDeployment>,
  message: { readonly idempotencyKey: Hex; readonly actions: readonly Hex[] },
): Promise<Hex> {
  const verifyingContract = bench.deployment.oracle
  const domain = { name: 'RelayOracle', version: '2', chainId: bench.chain.chainId, verifyingContract }
  const types = {
    Execution: [
      { name: 'idempotencyKey', type: 'bytes32' },
      { name: 'actions', type: 'bytes[]' },
    ],
  }
  const signatures = await Promise.all(
    twoOracles(bench).map(({ privateKey }) =>
      privateKeyToAccount(privateKey).signTypedData({ domain, types, primaryType: 'Execution', message }),
    ),
  )
  return concatHex(signatures)
}

/** Requests of each family, with what its builder needs beside the money. */
export function withdrawRequests(
  artifacts: Artifacts,
  holder: Hex,
): Readonly<Record<string, WithdrawRequest>> {
  const { address: depository } = userChainPlan(artifacts).depository
  const families = familyDepositories(tronPlan(artifacts).depository.address)
  // A spender has each nonce once. A word without zero bytes, as nonces are.
  const nonceOf = (family: FamilyKey) => BigInt(word(`5${familyKeys.indexOf(family) + 1}`))
  const asked = (family: FamilyKey, currency: string, recipient: string) => ({
    depository: families[family],
    currency,
    recipient,
    amount,
    spender: holder,
    nonce: nonceOf(family),
  })
  const chain = (family: FamilyKey) => {
    const { vmType } = familyPlans[family]
    const id = family === 'tron' ? tronChainId : derivedHubChainId(family)
    const network = family === 'bitcoin' ? { network: 'regtest' } : {}
    return { ...mainNetwork(vmType), ...network, hubChainId: id.toString() }
  }
  const [bitcoin, solana] = [families.bitcoin, solanaCodec.nativeCurrency]
  const evm = {
    depository,
    currency: zeroAddress,
    recipient: holder,
    amount,
    spender: holder,
    nonce: BigInt(word('42')),
  }
  return {
    EVM: spelledWithdrawRequest({ ...mainNetwork('ethereum-vm'), hubChainId: '8453' }, evm),
    Tron: spelledWithdrawRequest(chain('tron'), asked('tron', tronAddress(zeroAddress), tronAddress(holder))),
    Solana: spelledWithdrawRequest(chain('solana'), asked('solana', solana, solanaVault)),
    Bitcoin: spelledWithdrawRequest(
      chain('bitcoin'),
      asked('bitcoin', createBitcoinCodec().nativeCurrency, bitcoin),
      {
        'bitcoin-vm': {
          allocatorUtxos: [{ txid: 'ab'.repeat(32), vout: 0, value: '2000000' }],
          feeRate: '5',
        },
      },
    ),
    Hyperliquid: spelledWithdrawRequest(
      chain('hyperliquid'),
      asked('hyperliquid', `0x${'00'.repeat(16)}`, holder),
      { 'hyperliquid-vm': { currencyHyperliquidSymbol: 'USDC', currentTime: '1761563890702' } },
    ),
    Lighter: spelledWithdrawRequest(chain('lighter'), asked('lighter', '0', '462196'), {
      'lighter-vm': {
        nonce: '1',
        fromRouteType: '0',
        toRouteType: '0',
        apiKeyIndex: '4',
        usdcFee: '3000000',
        assetIndex: '3',
        memo: word('ab'),
      },
    }),
  }
}

/** A withdrawal that two oracles signed, and the storing of its signature. */
export async function withdrawal(bench: ContractBench<HubDeployment>, request: WithdrawRequest) {
  const domain = { chainId: bench.chain.chainId, verifyingContract: bench.deployment.allocator }
  const hash = bytesToHex(signingDigest({ purpose: 'withdraw-request', domain, request }))
  const signatures = await Promise.all(
    twoOracles(bench).map(({ privateKey }) => sign({ hash, privateKey, to: 'hex' })),
  )
  const { recipient, ...rest } = request
  return {
    submit: encodeFunctionData({
      abi: allocatorAbi,
      functionName: 'submitWithdrawRequest',
      args: [{ ...rest, receiver: recipient }, concatHex(signatures)],
    }),
    store: encodeFunctionData({
      abi: allocatorAbi,
      functionName: 'storeSignature',
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
