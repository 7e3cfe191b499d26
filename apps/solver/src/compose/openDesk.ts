import { EthereumFees, type ExposureLimits, gasBudgetsOf, type NetworkFees } from '@causeway/core'
import type { Elections } from '@causeway/database'
import type { Market } from '@causeway/market'
import type { ConfiguredSigner } from '@causeway/signer'
import type { Logger } from 'pino'
import { createFillContracts } from '../facts/fillContracts.ts'
import { createMarkedRecord, createPaymentRecord, readHasCode } from '../facts/paymentRecord.ts'
import type { SolverChain } from '../filling/filling.ts'
import { createExpiringDesk } from '../wallet/expiringDesk.ts'
import { connectFillWallet } from '../wallet/fillWallet.ts'
import {
  createAllowances,
  createInventory,
  createLineInventory,
  createPlainInventory,
} from '../wallet/inventory.ts'
import { createLineDesk } from '../wallet/lineDesk.ts'
import { createNonceDesk } from '../wallet/nonceDesk.ts'
import type { Records } from '../wallet/records.ts'
import type { KeptRecord } from '../wallet/signedRecord.ts'
import type { ContractPaidChain, LinePaidChain, MarkedPaidChain, PaidChain } from './chains.ts'

/** One writer per wallet and chain. */
export const leaseName = (wallet: string, chainId: number) => `fill-wallet:${wallet}:${chainId}`

/** Gives the address of the fill wallet on the chain. */
export const addressOn = (chain: PaidChain, { address }: Pick<ConfiguredSigner, 'address'>): string =>
  chain.kind === 'contract' ? address : chain.paying.address

type WalletParts = { readonly signer: ConfiguredSigner; readonly logger: Logger }
type DeskParts = {
  readonly records: Records
  readonly market: Market
  readonly elections: Elections
  readonly exposure: ExposureLimits
}

/** What pays on a chain, whichever kind of chain it is. */
export function openDesk(parts: WalletParts, desk: DeskParts & { readonly chain: PaidChain }): SolverChain {
  const { chain, ...shared } = desk
  switch (chain.kind) {
    case 'contract':
      return openContractDesk(parts, { ...shared, chain })
    case 'marked':
      return openMarkedDesk(parts, { ...shared, chain })
    case 'line':
      return openLineDesk(parts, { ...shared, chain })
  }
}

/** Less time than this is too little to be mined in. */
const minedWithinSeconds = 15

function openContractDesk(
  { signer, logger }: WalletParts,
  { chain, records, market, elections, exposure }: DeskParts & { readonly chain: ContractPaidChain },
): SolverChain {
  const { key, config, codec, payees, policy, client, submit, finalBlocks } = chain
  const { chainId, fillContract, wrappedNative, depositAddresses, permitRouter, permit2Router, multicall3 } =
    config
  const nowMs = () => Date.now()
  const fillContracts = createFillContracts({ client, own: fillContract, listed: chain.fillContracts })
  const wallet = connectFillWallet({ chainId, client, submit, finalBlocks, signer, nowMs })
  const { maxFeePerGasWei, bumpAfterSeconds } = policy
  const desk = createNonceDesk({
    ...{ wallet, fillContract, records, nowMs },
    leadership: () => elections.leadershipOf(leaseName(signer.address, chainId)),
    marketFees: () => {
      const fees = feesOf(market, chainId)
      return fees instanceof EthereumFees ? fees : undefined
    },
    rules: {
      ...{ ...gasBudgetsOf(policy), maxFeePerGasWei, transactionGasMax: policy.transactionGasMax },
      bumpAfterMs: bumpAfterSeconds * 1_000,
    },
    log: recordLog(logger, key),
  })
  return {
    ...{ key, chainId, codec, payees, fillContract, fillContracts, desk, exposure },
    landsWithinSeconds: minedWithinSeconds,
    ...(submit !== undefined && { submitFailure: wallet.submitFailure }),
    hasCode: (account) => readHasCode(client, account),
    ...costs(market, chainId, policy),
    record: createPaymentRecord({ client, finalBlocks, fillContracts, filler: signer.address }),
    depositAddresses: depositAddresses?.contract,
    permitRouter: permitRouter?.contract,
    permit2Router,
    multicall3,
    inventory: createInventory(
      desk,
      { chainId, fillContract, wrappedNative, floors: floorsOf(policy) },
      records,
    ),
  }
}

function openMarkedDesk(
  { logger }: WalletParts,
  { chain, records, market, elections, exposure }: DeskParts & { readonly chain: MarkedPaidChain },
): SolverChain {
  const { key, chainId, codec, policy, paying, fillContract, addressProgram, landsWithinSeconds } = chain
  const { address } = paying
  const desk = createExpiringDesk({
    ...{ chainId, paying, landsWithinSeconds, records, nowMs: () => Date.now() },
    rules: { ...gasBudgetsOf(policy), maxFeePerGasWei: policy.maxFeePerGasWei },
    leadership: () => elections.leadershipOf(leaseName(address, chainId)),
    marketFees: () => feesOf(market, chainId),
    log: recordLog(logger, key),
  })
  const open = () => records.active(address, chainId, Number.MAX_SAFE_INTEGER)
  return {
    ...{ key, chainId, codec, payees: chain.payees, desk, landsWithinSeconds, ...noContracts },
    record: createMarkedRecord(paying),
    ...{ fillContract, addressProgram, exposure },
    ...costs(market, chainId, policy),
    inventory: createPlainInventory({
      ...{ balanceOf: (currency) => paying.balanceOf(currency), open, floors: floorsOf(policy) },
      isAllowed: createAllowances({ desk, paying, open }),
    }),
  }
}

function openLineDesk(
  { logger }: WalletParts,
  { chain, records, market, elections, exposure }: DeskParts & { readonly chain: LinePaidChain },
): SolverChain {
  const { key, chainId, codec, policy, paying, landsWithinSeconds } = chain
  const { maxFeePerGasWei, bumpAfterSeconds, gatherBelowSatPerKvb: gatherBelow } = policy
  const desk = createLineDesk({
    ...{ chainId, paying, records, nowMs: () => Date.now() },
    rules: { ...gasBudgetsOf(policy), maxFeePerGasWei, bumpAfterMs: bumpAfterSeconds * 1_000, gatherBelow },
    leadership: () => elections.leadershipOf(leaseName(paying.address, chainId)),
    marketFees: () => {
      const fees = feesOf(market, chainId)
      return fees && paying.priceOf(fees)
    },
    log: recordLog(logger, key),
  })
  return {
    ...{ key, chainId, codec, payees: chain.payees, desk, landsWithinSeconds, ...noContracts },
    record: createMarkedRecord(paying),
    ...costs(market, chainId, policy),
    ...{ sweeping: paying, exposure },
    inventory: createLineInventory(desk, { currency: paying.currency, floors: floorsOf(policy) }),
  }
}

const noContracts = {
  ...{ fillContract: undefined, depositAddresses: undefined, permitRouter: undefined },
  ...{ permit2Router: undefined, multicall3: undefined },
}

const floorsOf = ({ floors }: PaidChain['policy']): ReadonlyMap<string, bigint> =>
  new Map(floors.map(({ currency, amount }) => [currency, amount]))

const recordLog =
  (logger: Logger, chain: string) =>
  (event: string, { id, kind, attempt, nonce }: KeptRecord, more?: object): void => {
    logger.info({ event, chain, item: id, kind, attempt, nonce, ...more }, `${kind} ${id}: ${event}`)
  }

const costs = (
  market: Market,
  chainId: number,
  { gasMarginBps }: PaidChain['policy'],
): Pick<SolverChain, 'costOf' | 'gasMarginBps'> => ({
  gasMarginBps,
  costOf: (transaction) => feesOf(market, chainId)?.costOf(transaction),
})

function feesOf(market: Market, chainId: number): NetworkFees | undefined {
  const chain = market.snapshot().chain(chainId)
  return 'reason' in chain || 'reason' in chain.fees ? undefined : chain.fees
}
