import type { AttestationKindName } from '@causeway/attestations'
import type { Arguments } from '@causeway/cli'
import { ConfigurationError } from '@causeway/core'

export type VerifyOptions = {
  /** The response as JSON. */
  readonly file: string
  readonly signers: readonly string[]
  readonly threshold: number
  /** Environment whose configuration files name the hub and the chains. */
  readonly environment: string
  readonly configDirectory: string | undefined
  /** Found by the response's form when it is not named. */
  readonly kind: AttestationKindName | undefined
}

const names = [
  'deposits',
  'withdrawals',
  'fills',
  'refunds',
  'withdrawal-initiation',
  'withdrawal-initiated',
  'no-fill-or-refund',
  'recovery',
] as const satisfies readonly AttestationKindName[]

export const verifyForm = {
  words: 'verify-attestation',
  about:
    'Count the listed signers that signed all of an attestation: 0 where they are enough, 1 where they are not',
  flags: {
    file: { value: '<path>', about: 'The response as JSON', isRequired: true },
    signers: { value: '<addresses>', about: 'Joined by semicolons', isRequired: true },
    threshold: { value: '<number>', about: 'How many are enough; default 1' },
    environment: { value: '<name>', about: 'Of the configuration files; default local' },
    'config-dir': { value: '<folder>', about: 'Of these files; default configs' },
    kind: {
      value: '<kind>',
      about: `By default the one that the response has the form of: ${names.join(', ')}`,
    },
  },
}

/** @throws ConfigurationError for a value that is none */
export function verifyOptions(args: Arguments): VerifyOptions {
  const signers = (args.text('signers') ?? '').split(/[;,]/).filter((text) => text.trim() !== '')
  const threshold = args.text('threshold') ?? '1'
  const kind = names.find((name) => name === args.text('kind'))
  if (signers.length === 0 || !signers.every((text) => /^0x[0-9a-fA-F]{40}$/.test(text.trim())))
    throw new ConfigurationError('--signers: expected addresses, joined by semicolons.')
  if (!/^[1-9][0-9]{0,8}$/.test(threshold))
    throw new ConfigurationError('--threshold: expected a number from 1.')
  if (args.text('kind') !== undefined && kind === undefined)
    throw new ConfigurationError(`--kind: expected one of ${names.join(', ')}.`)
  return {
    file: args.text('file') ?? '',
    signers: signers.map((text) => text.trim()),
    threshold: Number(threshold),
    environment: args.text('environment') ?? 'local',
    configDirectory: args.text('config-dir'),
    kind,
  }
}
