import type { Arguments, CommandForm } from '@causeway/cli'
import type { SqlDatabase } from '@causeway/core'
import type { QuoteApiConfig } from '../../config/config.ts'
import type { RetentionSettings } from '../../requests/retention/removableRequests.ts'
import type { Difference } from '../../requests/stops/solverTerms.ts'
import type { Administration } from '../administration.ts'
import type { CommandChain } from './commandChain.ts'
import type { FillJudge } from './foundFills.ts'
import type { CommandReader } from './reread.ts'

/** Order signer of a command that loads files and signs no order. No check refuses the zero address. */
export const noOrderSigner = `0x${'0'.repeat(40)}`

/** Dependencies of a command that works on the database. */
export type CommandContext = {
  readonly administration: Administration
  readonly database: SqlDatabase
  /** Retention from the variables of the command. */
  readonly retention: RetentionSettings
  /** Variables of the service, secrets among them. */
  readonly variables: Readonly<Record<string, string | undefined>>
  /** `cli:<account>`, for the audit log. */
  readonly actor: string
  /** The chain of top-ups, as the configuration files describe it; opened by the first command that asks. */
  readonly chain: () => Promise<CommandChain>
  /** Settings in which this service and solvers differ; undefined where its key or its files cannot be used. */
  readonly differences: () => Promise<readonly Difference[] | undefined>
  /** One quoted chain by its key or id. @throws CommandError, ConfigurationError */
  readonly openReader: (name: string) => Promise<CommandReader>
  /** Opens the judge that proves fills of orders that are not stored. @throws ConfigurationError */
  readonly openFillJudge: () => Promise<FillJudge>
  /** Lines of a file that a flag names. @throws CommandError when it cannot be read */
  readonly readLines: (path: string) => AsyncIterable<string>
  /** Text of a file that a flag names. @throws CommandError when it cannot be read */
  readonly readFile: (path: string) => Promise<string>
  /** Prints one line, for output that is too long to be held. */
  readonly print: (line: string) => Promise<void>
}

/** Dependencies of a command that works on chains and opens no database. */
export type ChainsContext = {
  readonly config: QuoteApiConfig
  readonly variables: Readonly<Record<string, string | undefined>>
}

/** Text that a command prints, and whether it found something wrong. */
export type Output = {
  /** Printed with `--json`: `bigint` as decimal text, times in ISO 8601. */
  readonly data: unknown
  /** Printed otherwise. */
  readonly lines: readonly string[]
  /** The command found something wrong: exit code 1. */
  readonly isFailure?: boolean
  /** The command could not look: exit code 2. */
  readonly isUnknown?: boolean
}

/** Replacer for `JSON.stringify`: amounts become decimal text. */
export function amountsAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

/** A command of operators: its form for the help, and its work on a database, on chains only, or before there are settings. */
export type Command = CommandForm & {
  /**
   * True if the command changes stored state. The functions that it calls write the audit line of the change, `runCli`
   * that of a refusal.
   */
  readonly changes?: true
} & (
    | {
        /** `undefined` when everything was printed. @throws CommandError, DomainError, ConfigurationError */
        run(context: CommandContext, args: Arguments): Promise<Output | undefined>
      }
    | {
        /** As `run`, of a command that works without a database. */
        runOnChains(context: ChainsContext, args: Arguments): Promise<Output>
      }
    | {
        /** As `run`, of a command that works before there are settings. @param variables what is set nevertheless */
        runWithoutSettings(variables: ChainsContext['variables'], args: Arguments): Promise<Output>
      }
  )
