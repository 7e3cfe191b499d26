import { createHash } from 'node:crypto'
import { encodeBase58 } from '@causeway/core'
import type { ChainFinding } from '../../shared/chainFinding.ts'
import type { ShownAccount } from '../reading/answers.ts'
import { depositAddressesCode } from '../rules/programs.ts'
import type { AccountGroups, Limits } from './accountGroups.ts'

/** Loader that keeps a program and its bytes in two accounts. @source Solana documentation, "Program deployment" */
const upgradeableLoader = 'BPFLoaderUpgradeab1e11111111111111111111111'
/** First bytes of the loader's accounts. A program's own account names a second one, program data, with its code. */
const kinds = { program: 2, programData: 3 } as const
const kindBytes = 4
const keyBytes = 32
/** Bytes before the code in program data: kind (4), slot (8), whether there is an authority (1), authority (32). */
const programDataHeadBytes = 45
const authorityFlagAt = 12

/** Code of a program, and its authority for upgrades. */
type ProgramCode = {
  /** SHA-256 of its bytes, without the zeros that a loader leaves behind them. */
  readonly hash: string
  readonly authority: string | undefined
}

/**
 * Findings on the program that money at deposit addresses relies on: it must be the one of this release, without an
 * upgrade authority.
 * @throws UpstreamUnavailableError, UpstreamDisagreementError
 */
export async function addressProgramFindings(
  program: string | undefined,
  { groups, limits, chainId }: { groups: AccountGroups; limits: Limits; chainId: string },
): Promise<readonly ChainFinding[]> {
  if (program === undefined) return []
  const code = await readProgramCode(program, groups, limits)
  const setting = `quote: chains.${chainId}.depositAddressProgram`
  const findingOf = (actual: string, problem: string): readonly ChainFinding[] => [
    {
      kind: 'code',
      setting,
      value: program,
      said: actual,
      problem: `depositAddressProgram ${program} ${problem}`,
    },
  ]
  if (code === undefined) return findingOf('no program', 'is no program')
  if (code.hash !== depositAddressesCode)
    return findingOf(`SHA-256 ${code.hash}`, `is not the program of this release: SHA-256 ${code.hash}`)
  if (code.authority === undefined) return []
  return findingOf(
    `upgradeable by ${code.authority}`,
    `can be replaced by ${code.authority}, who could take what lies at addresses: make it final`,
  )
}

async function readProgramCode(
  program: string,
  groups: AccountGroups,
  limits: Limits,
): Promise<ProgramCode | undefined> {
  const dataAddress = await groups.agreed([program], ([account]) => programDataOf(account), limits)
  return dataAddress === undefined
    ? undefined
    : groups.agreed([dataAddress], ([account]) => readProgramData(account), limits)
}

/** Address of the account with a program's bytes; undefined if there is no program. Pure. */
function programDataOf(account: ShownAccount | undefined): string | undefined {
  if (account?.owner !== upgradeableLoader || !account.isExecutable) return undefined
  const data = Buffer.from(account.data)
  if (data.length !== kindBytes + keyBytes || data.readUInt32LE(0) !== kinds.program) return undefined
  return encodeBase58(data.subarray(kindBytes))
}

/** Code and authority in a program data account; undefined for another account. Pure. */
function readProgramData(account: ShownAccount | undefined): ProgramCode | undefined {
  const data = Buffer.from(account?.data ?? [])
  if (account?.owner !== upgradeableLoader || data.length < programDataHeadBytes) return undefined
  if (data.readUInt32LE(0) !== kinds.programData) return undefined
  const isReplaceable = data.readUInt8(authorityFlagAt) !== 0
  return {
    hash: programHash(data.subarray(programDataHeadBytes)),
    authority: isReplaceable
      ? encodeBase58(data.subarray(authorityFlagAt + 1, programDataHeadBytes))
      : undefined,
  }
}

/** Hash of a program's bytes, in the form of `depositAddressesCode`. */
export function programHash(bytes: Uint8Array): string {
  const end = bytes.findLastIndex((byte) => byte !== 0) + 1
  return createHash('sha256').update(bytes.subarray(0, end)).digest('hex')
}
