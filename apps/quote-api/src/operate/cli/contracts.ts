import { readFileSync } from 'node:fs'
import {
  type CodeState,
  codeStateOf,
  type DeployedName,
  type DeploymentChain,
  deployContracts,
  ForeignOwnerError,
  initializeContracts,
  isKnownCode,
  NoProxyError,
  type PlannedDeployment,
} from '@causeway/contracts'
import { ConfigurationError, type Hex, hexToBytes, keccak256Hex } from '@causeway/core'
import { readPrivateKeySetting } from '@causeway/signer'
import { createWalletClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { ChainsContext, Command, Output } from './command.ts'
import { CommandError } from './commandError.ts'
import { type ConfiguredContract, type DeploymentTarget, openDeploymentTarget } from './deploymentTargets.ts'
import { tableOf } from './tableOf.ts'
import { type Replaced, writeAddresses } from './writeAddresses.ts'

const keyVariable = 'DEPLOYER_PRIVATE_KEY'
const minedTimeoutMs = 300_000
const chainFlag = {
  chain: { value: '<key>', about: 'Chain of the quote file, e.g. base, or hub', isRequired: true },
}

export const contractCommands: readonly Command[] = [
  {
    words: 'contracts deploy',
    about: 'Deploy what a chain needs; what is there already is left alone',
    flags: {
      ...chainFlag,
      settlement: {
        value: '<file>',
        about: 'Owners and signers: deploys the depository too, and on hub all that settlement stands on',
      },
      configured: { about: 'Only contracts that the quote file names' },
      'dry-run': { about: 'Only tell the addresses' },
      write: { about: 'Put the addresses into the configuration files of CONFIG_DIR' },
    },
    async runOnChains(context, args) {
      if (args.isOn('write') && args.isOn('dry-run'))
        throw new CommandError('--write puts down what is deployed: it does not go with --dry-run.')
      if (args.isOn('configured') && args.text('settlement') !== undefined)
        throw new CommandError(
          '--settlement deploys what no file names yet: it does not go with --configured.',
        )
      const target = await openDeploymentTarget(context, args, { isDeploying: true })
      const contracts = args.isOn('configured') ? await configuredOnly(target) : target.plan.contracts
      if (args.isOn('dry-run'))
        return outputOf(
          target,
          contracts.map((contract) => ({ ...contract, state: 'planned' })),
        )
      return deploy(context, target, { contracts, isWritten: args.isOn('write') })
    },
  },
  {
    words: 'contracts verify',
    about: 'Compare the code of the contracts that a chain is configured with',
    flags: {
      ...chainFlag,
      settlement: {
        value: '<file>',
        about: 'On hub, compare the payload builders of its depositories, too',
      },
    },
    async runOnChains(context, args) {
      const target = await openDeploymentTarget(context, args, { isDeploying: false })
      const { key } = target
      const configured = await target.configured()
      if (configured.length === 0) throw new CommandError(`Chain ${key} is configured with none.`)
      return outputOf(target, await Promise.all(configured.map((contract) => verify(target, contract))))
    },
  },
]

/**
 * Deploys contracts that have no code yet, initializes those that have no owner, and with `isWritten` puts
 * all addresses into the configuration files. Addresses follow from environment and constructor, and each
 * step leaves alone what is done, so that a run that failed is repeated as it was. @throws ConfigurationError
 */
async function deploy(
  context: ChainsContext,
  target: DeploymentTarget,
  { contracts, isWritten }: { readonly contracts: readonly PlannedDeployment[]; readonly isWritten: boolean },
): Promise<Output> {
  const chain = sendingChain(context, target)
  try {
    const deployed = (await deployContracts(chain, contracts)).map(({ code, ...contract }) => ({
      ...contract,
      state: codeStateOf(contract.name, code),
    }))
    // Foreign code at one address is reported, and then none of the contracts is given an owner.
    const isSound = deployed.every(({ state }) => state === 'ours')
    if (isSound) await initializeContracts(chain, target.plan.initializations)
    const output = outputOf(target, deployed)
    if (!isSound || !isWritten) return output
    const { environment, configDirectory: directory } = context.config
    const replaced = await replacedBy(target, deployed)
    const writtenPaths = await writeAddresses({ directory, environment }, target, { deployed, replaced })
    const lines = [...keptLines(replaced), ...writtenPaths.map((path) => `wrote ${path}`)]
    return { ...output, lines: [...output.lines, ...lines] }
  } catch (error) {
    if (error instanceof NoProxyError || error instanceof ForeignOwnerError)
      throw new ConfigurationError(error.message)
    throw error
  }
}

/** Planned contracts that the quote file names. */
async function configuredOnly({ plan, configured }: DeploymentTarget) {
  const configuredAddresses = new Set((await configured()).map(({ address }) => address))
  return plan.contracts.filter(({ address }) => configuredAddresses.has(address))
}

/**
 * The fill contract that was configured until now, if its code exists. It stays listed, because open orders name it and
 * its payments must be believed.
 */
async function replacedBy(
  { client, configured, codeHashes }: DeploymentTarget,
  deployed: readonly ContractReport[],
): Promise<Replaced | undefined> {
  const newContract = deployed.find(({ name }) => name === 'FillContract')
  const oldContract = newContract && (await configured()).find(({ name }) => name === 'FillContract')
  if (oldContract === undefined || oldContract.address === newContract?.address) return undefined
  const { address } = oldContract
  const code = await client.getCode({ address })
  if (code === undefined || code === '0x') return undefined
  if (isKnownCode('FillContract', code) || codeHashes.has(address)) return { address }
  return { address, codeHash: keccak256Hex(hexToBytes(code)) }
}

function keptLines(replaced: Replaced | undefined): readonly string[] {
  if (replaced === undefined) return []
  const { address, codeHash } = replaced
  return [
    codeHash === undefined
      ? `kept ${address} in fillContracts: its orders are filled`
      : `kept ${address} in fillContracts, and its hash ${codeHash} in codeHashes: let its orders run out first`,
  ]
}

/** Compares code with this release, with earlier ones, then with `codeHashes` of the chain file. */
async function verify(
  { client, codeHashes }: DeploymentTarget,
  contract: ConfiguredContract,
): Promise<ContractReport> {
  const code = await client.getCode({ address: contract.address })
  const state = codeStateOf(contract.name, code)
  if (state !== 'foreign' || code === undefined) return { ...contract, state }
  const codeHash = keccak256Hex(hexToBytes(code))
  const recordedHash = codeHashes.get(contract.address)
  if (recordedHash === codeHash) return { ...contract, codeHash, state: 'recorded' }
  return { ...contract, codeHash, state: recordedHash === 'unchecked' ? 'unchecked' : 'foreign' }
}

/** The chain with the deployer's key to send by. @throws ConfigurationError without the key, or if it may not initialize */
function sendingChain(
  { variables }: ChainsContext,
  { key, client, url, initializer }: DeploymentTarget,
): DeploymentChain {
  const secret = readPrivateKeySetting({
    environment: variables,
    name: keyVariable,
    readFile: (path) => readFileSync(path, 'utf8'),
  })
  if (secret === undefined) {
    throw new ConfigurationError(
      'Set DEPLOYER_PRIVATE_KEY or DEPLOYER_PRIVATE_KEY_FILE: it pays the gas and owns nothing.',
    )
  }
  // CAST: a checked key is 0x and 64 hex digits.
  const account = privateKeyToAccount(secret.reveal() as Hex)
  if (initializer !== undefined && account.address.toLowerCase() !== initializer) {
    throw new ConfigurationError(
      `${keyVariable} is the key of ${account.address}, and only the settlement file's initializer may initialize.`,
    )
  }
  const wallet = createWalletClient({ account, transport: http(url) })
  return {
    codeAt: (address) => client.getCode({ address }),
    read: async (call) => (await client.call(call)).data ?? '0x',
    async send(transactions) {
      for (const transaction of transactions) {
        // Without a chain viem checks no chain id; `openDeploymentTarget` has checked it.
        const hash = await wallet.sendTransaction({ ...transaction, chain: null })
        const { status } = await client.waitForTransactionReceipt({ hash, timeout: minedTimeoutMs })
        if (status !== 'success') throw new ConfigurationError(`Transaction ${hash} on ${key} reverted.`)
      }
    },
  }
}

/** State of the code at a contract's address; `meaning` explains each. */
type State = CodeState | 'planned' | 'recorded' | 'unchecked'

const meaning: Readonly<Record<State, string>> = {
  ours: 'the code of this release',
  earlier: 'the code of an earlier release, which is relied on',
  public: 'the code of the public contract',
  recorded: 'other code, the one that codeHashes names',
  unchecked: 'other code, which codeHashes leaves unchecked',
  foreign: 'other code',
  missing: 'no code',
  planned: 'planned',
}

type ContractReport = {
  readonly name: DeployedName
  readonly address: Hex
  readonly state: State
  readonly isNew?: boolean
  /** Keccak-256 of code that is not of a known release. */
  readonly codeHash?: Hex
}

function outputOf({ key, settingOf }: DeploymentTarget, reports: readonly ContractReport[]): Output {
  const rows = reports.map(({ name, address, state, isNew = false, codeHash }) => ({
    setting: settingOf(name),
    address,
    code: `${meaning[state]}${isNew ? ', deployed now' : ''}${codeHash === undefined ? '' : ` ${codeHash}`}`,
  }))
  return {
    data: {
      chain: key,
      contracts: reports.map(({ name, address, state, isNew = false, codeHash }) => ({
        name,
        address,
        state,
        isNew,
        codeHash,
        setting: settingOf(name),
      })),
    },
    lines: tableOf(rows),
    isFailure: reports.some(({ state }) => state === 'missing' || state === 'foreign'),
  }
}
