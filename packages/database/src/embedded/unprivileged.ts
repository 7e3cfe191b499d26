import { execFile } from 'node:child_process'
import { access, chown, constants } from 'node:fs/promises'
import { promisify } from 'node:util'
import { ConfigurationError } from '@causeway/core'

const run = promisify(execFile)

/** Runs PostgreSQL programs, which refuse to run as root, under another account if needed. */
export type Runner = {
  /** The program and arguments to spawn instead of the given ones. */
  command(program: string, args: readonly string[]): { program: string; args: readonly string[] }
  /** Options for `spawn`. */
  readonly identity: { readonly uid?: number; readonly gid?: number }
  /** Makes a file or directory belong to the account that the programs run as. */
  giveTo(path: string): Promise<void>
}

const accounts = ['postgres', 'nobody'] as const
const setprivPaths = ['/usr/bin/setpriv', '/bin/setpriv', '/usr/sbin/setpriv', '/sbin/setpriv'] as const

/**
 * Runs programs unchanged for a normal user. Root runs them as the account `postgres`, else as `nobody`; no account is
 * created. If `setpriv` exists, the programs keep the right to pass directories that only root may pass, so that a
 * checkout under /root works.
 * @throws ConfigurationError as root without either account
 */
export async function createRunner(): Promise<Runner> {
  if (process.getuid?.() !== 0) {
    return { command: (program, args) => ({ program, args }), identity: {}, giveTo: async () => {} }
  }
  const { uid, gid } = await findAccount()
  const giveTo = (path: string) => chown(path, uid, gid)
  const setpriv = await findExecutable(setprivPaths)
  if (setpriv === undefined) {
    return { command: (program, args) => ({ program, args }), identity: { uid, gid }, giveTo }
  }
  const setprivOptions = [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
    // Keeps the capability across the change of user, so that access(2), which initdb uses, sees it too.
    '--securebits=+no_setuid_fixup',
  ]
  return {
    command: (program, args) => ({ program: setpriv, args: [...setprivOptions, program, ...args] }),
    identity: {},
    giveTo,
  }
}

async function findAccount(): Promise<{ uid: number; gid: number }> {
  for (const account of accounts) {
    const uid = await askId('-u', account)
    const gid = await askId('-g', account)
    if (uid !== undefined && gid !== undefined) return { uid, gid }
  }
  throw new ConfigurationError(
    'PostgreSQL cannot run as root and there is no account to run it as: start as a normal user or set DATABASE_URL.',
  )
}

async function askId(option: '-u' | '-g', account: string): Promise<number | undefined> {
  try {
    const { stdout } = await run('id', [option, account])
    return Number.parseInt(stdout, 10)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 1) return undefined
    throw error
  }
}

async function findExecutable(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    try {
      await access(path, constants.X_OK)
      return path
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error
    }
  }
  return undefined
}
