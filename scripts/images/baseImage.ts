import { execFile } from 'node:child_process'
import { cp, mkdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Buildah } from './buildah.ts'

const run = promisify(execFile)

/** Where Debian keeps the certificates that this machine trusts. */
const certificates = '/etc/ssl/certs/ca-certificates.crt'
const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * A base image from Debian's packages and Node's binary on npm, for machines without an image registry.
 * It stands in for the official one of the same name, with the same distribution and Node version.
 * @param nodeMajor the version that the Dockerfile names
 * @returns its name
 */
export async function buildBaseImage(
  buildah: Buildah,
  folder: string,
  image: { readonly name: string; readonly nodeMajor: string },
): Promise<string> {
  const root = join(folder, 'rootfs')
  await run('debootstrap', ['--variant=minbase', '--include=ca-certificates,libatomic1', 'bookworm', root], {
    maxBuffer: 64 * 1024 * 1024,
  })
  await addNode(folder, root, image.nodeMajor)
  await cp(certificates, join(root, certificates), { dereference: true })
  const container = await buildah('from', 'scratch')
  await buildah('add', '--quiet', container, root, '/')
  await buildah(
    'config',
    '--env',
    `PATH=${searchPath}`,
    '--env',
    `NODE_EXTRA_CA_CERTS=${certificates}`,
    container,
  )
  const name = `localhost/${image.name}`
  await buildah('commit', '--quiet', '--format', 'docker', container, name)
  await buildah('rm', container)
  return name
}

async function addNode(folder: string, root: string, major: string): Promise<void> {
  const packed = await run('npm', ['pack', '--silent', `node-linux-${process.arch}@${major}`], {
    cwd: folder,
  })
  await run('tar', ['xzf', packed.stdout.trim(), '-C', folder], { cwd: folder })
  const bin = join(root, 'usr/local/bin')
  const modules = join(root, 'usr/local/lib/node_modules')
  await mkdir(modules, { recursive: true })
  await cp(join(folder, 'package/bin/node'), join(bin, 'node'))
  const { stdout: npmModules } = await run('npm', ['root', '--global', '--silent'])
  await cp(join(npmModules.trim(), 'npm'), join(modules, 'npm'), { recursive: true, dereference: true })
  for (const name of ['npm', 'npx']) {
    await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, join(bin, name))
  }
  await mkdir(dirname(join(root, certificates)), { recursive: true })
}
