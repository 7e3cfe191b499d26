import { cp, mkdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Buildah } from './buildah.ts'
import type { Processes } from './processes.ts'

/** Debian's bundle of the certificates that this machine trusts. */
const certificates = '/etc/ssl/certs/ca-certificates.crt'
const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * A base image from Debian's packages and Node's binary on npm, for machines without an image registry.
 * It stands in for the official one of the same name, with the same distribution and Node version.
 * @param image what the Dockerfile names, and the exact version of Node in it
 * @returns its name
 */
export async function buildBaseImage(
  processes: Processes,
  buildah: Buildah,
  folder: string,
  image: { readonly name: string; readonly node: string },
): Promise<string> {
  const root = join(folder, 'rootfs')
  const packages = '--include=ca-certificates,libatomic1'
  await processes.quiet('debootstrap', ['--variant=minbase', packages, 'bookworm', root])
  await addNode(processes, folder, root, image.node)
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
  const name = `localhost/library/${image.name}`
  await buildah('commit', '--quiet', '--format', 'docker', container, name)
  await buildah('rm', container)
  return name
}

async function addNode({ quiet }: Processes, folder: string, root: string, version: string): Promise<void> {
  const cwd = folder
  const packed = await quiet('npm', ['pack', '--silent', `node-linux-${process.arch}@${version}`], { cwd })
  await quiet('tar', ['xzf', packed, '-C', folder], { cwd })
  const bin = join(root, 'usr/local/bin')
  const modules = join(root, 'usr/local/lib/node_modules')
  await mkdir(modules, { recursive: true })
  await cp(join(folder, 'package/bin/node'), join(bin, 'node'))
  const npmModules = await quiet('npm', ['root', '--global', '--silent'])
  await cp(join(npmModules, 'npm'), join(modules, 'npm'), { recursive: true, dereference: true })
  for (const name of ['npm', 'npx']) {
    await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, join(bin, name))
  }
  await mkdir(dirname(join(root, certificates)), { recursive: true })
}
