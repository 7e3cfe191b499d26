import { readFileSync } from 'node:fs'
import {
  type CodeState,
  codeStateOf,
  type DeployedName,
  type DeploymentChain,
  deployContracts,
  deploymentPlan,
  NoProxyError,
  type PlannedDeployment,
} from '@causeway/contracts'
import { ConfigurationError, type Hex } from '@causeway/core'
import { readPrivateKeySetting } from '@causeway/signer'
import { createPublicClient, createWalletClient, type HttpTransport, http, type PublicClient } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { loadFiles } from '../../config/configuration.ts'
import { createRegistry, type QuotableChain } from '../../pricing/registry.ts'
import type { Arguments, ChainsContext, Command, Output } from './command.ts'
import { CommandError } from './commandError.ts'
import { tableOf } from './tableOf.ts'

const nowhere = `0x${'0'.repeat(40)}`
const keyVariable = 'DEPLOYER_PRIVATE_KEY'
const minedTimeoutMs = 300_000
const chainFlag = { chain: { value: '<key>', about: 'Chain of the quote file, e.g. base', isRequired: true } }

/** What stands in the quote file for each contract. */
const settingOf: Readonly<Record<DeployedName, string>> = {
  FillContract: 'fillContract',
  CleanupRouter: 'cleanupRouter',
  DepositRouter: 'depositRouter',
  DepositAddresses: 'depositAddresses.contract',
  PermitRouter: 'permitRouter.contract',
  Permit2Router: 'permit2Router',
}

export const contractCommands: readonly Command[] = [
  {
    words: 'contracts deploy',
    about: 'Deploy what quotes of a chain rely on; what is there already is left alone',
    operands: [],
    flags: { ...chainFlag, 'dry-run': { about: 'Only tell the addresses' } },
    async runOnChains(scene, args) {
      const place = await openPlace(scene, args)
      const plan = planOf(place)
      if (args.isOn('dry-run'))
        return outputOf(
          place,
          plan.map((contract) => ({ ...contract, state: 'planned' })),
        )
      const deployed = await deployContracts(sendingChain(scene, place), plan).catch((error: unknown) => {
        if (error instanceof NoProxyError) throw new ConfigurationError(error.message)
        throw error
      })
      return outputOf(place, deployed)
    },
  },
  {
    words: 'contracts verify',
    about: 'Compare the code of the contracts that a chain is configured with',
    operands: [],
    flags: chainFlag,
    async runOnChains(scene, args) {
      const place = await openPlace(scene, args)
      const configured = configuredContracts(place.chain)
      if (configured.length === 0) throw new CommandError(`Chain ${place.chain.key} is configured with none.`)
      const found = await Promise.all(
        configured.map(async ({ name, address }) => ({
          ...{ name, address },
          state: codeStateOf(name, await place.client.getCode({ address })),
        })),
      )
      return outputOf(place, found)
    },
  },
]

type Place = {
  readonly environment: string
  readonly chain: QuotableChain
  readonly client: PublicClient<HttpTransport>
  readonly url: string
}

/** @throws CommandError for a chain that is not quoted; ConfigurationError for one without endpoint */
async function openPlace({ config, variables }: ChainsContext, args: Arguments): Promise<Place> {
  const key = args.text('chain') ?? ''
  const { chains, quote } = await loadFiles(config, variables, nowhere)
  const registered = chains.chains.get(key)
  const chain = createRegistry(quote, [...chains.chains.values()]).chains.find((one) => one.key === key)
  if (chain === undefined || registered === undefined) throw new CommandError(`No chain ${key} is quoted.`)
  const [endpoint] = registered.endpoints
  if (endpoint === undefined) throw new ConfigurationError(`Chain ${key} has no endpoint.`)
  const url = endpoint.reveal()
  const client = createPublicClient({ transport: http(url) })
  const chainId = await client.getChainId()
  if (chainId !== chain.chainId) {
    throw new ConfigurationError(`The endpoint of ${key} is on chain ${chainId}, not on ${chain.chainId}.`)
  }
  return { environment: quote.environment, chain, client, url }
}

function planOf({ environment, chain }: Place): readonly PlannedDeployment[] {
  const { config, quoting, depository } = chain
  return deploymentPlan(environment, {
    depository: quoting.hexAddress(depository),
    swapRouter: config.uniswapV3?.swapRouter,
    wrappedNative: config.wrappedNative,
  })
}

/** @throws ConfigurationError without the deployer's key */
function sendingChain({ variables }: ChainsContext, { chain, client, url }: Place): DeploymentChain {
  const key = readPrivateKeySetting({
    ...{ environment: variables, name: keyVariable },
    readFile: (path) => readFileSync(path, 'utf8'),
  })
  if (key === undefined) {
    throw new ConfigurationError(
      `Set ${keyVariable} or ${keyVariable}_FILE: it pays the gas and owns nothing.`,
    )
  }
  // CAST: a checked key is 0x and 64 hex digits.
  const account = privateKeyToAccount(key.reveal() as Hex)
  const wallet = createWalletClient({ account, transport: http(url) })
  return {
    codeAt: (address) => client.getCode({ address }),
    async send(transaction) {
      const hash = await wallet.sendTransaction({ ...transaction, chain: null })
      const { status } = await client.waitForTransactionReceipt({ hash, timeout: minedTimeoutMs })
      if (status !== 'success') throw new ConfigurationError(`Transaction ${hash} on ${chain.key} reverted.`)
    },
  }
}

function configuredContracts({ config }: QuotableChain) {
  const { fillContract, cleanupRouter, depositRouter, depositAddresses, permitRouter, permit2Router } = config
  const all: readonly (readonly [DeployedName, Hex | undefined])[] = [
    ['FillContract', fillContract],
    ['CleanupRouter', cleanupRouter],
    ['DepositRouter', depositRouter],
    ['DepositAddresses', depositAddresses?.contract],
    ['PermitRouter', permitRouter?.contract],
    ['Permit2Router', permit2Router],
  ]
  return all.flatMap(([name, address]) => (address === undefined ? [] : [{ name, address }]))
}

const meaning: Readonly<Record<CodeState | 'planned', string>> = {
  ours: 'the code of this release',
  foreign: 'other code',
  missing: 'no code',
  planned: 'planned',
}

type Told = {
  readonly name: DeployedName
  readonly address: Hex
  readonly state: CodeState | 'planned'
  readonly isNew?: boolean
}

function outputOf({ chain }: Place, told: readonly Told[]): Output {
  const rows = told.map(({ name, address, state, isNew = false }) => ({
    setting: `chains.${chain.key}.${settingOf[name]}`,
    address,
    code: `${meaning[state]}${isNew ? ', deployed now' : ''}`,
  }))
  return {
    data: {
      chain: chain.key,
      contracts: told.map(({ name, address, state, isNew = false }) => ({
        ...{ name, address, state, isNew },
        setting: settingOf[name],
      })),
    },
    lines: tableOf(rows),
    isFailure: told.some(({ state }) => state === 'missing' || state === 'foreign'),
  }
}
