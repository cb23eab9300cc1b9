import { execFileSync } from '../support/programs.ts'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** PEM texts of a server's key and certificate. */
export interface Identity {
  key: string
  cert: string
}

/** A certificate authority of the test's own, made by openssl in a temporary folder. */
export class Authority {
  readonly folder = mkdtempSync(join(tmpdir(), 'postern-tls-'))
  readonly cert: string

  constructor() {
    this.#key('ca.key')
    this.#openssl('req -x509 -key ca.key -subj /CN=test -days 2 -out ca')
    this.cert = this.#read('ca')
  }

  /** A server's certificate for a subject alternative name such as `IP:127.0.0.1`. */
  issue(name: string, days: [from: string, to: string] = ['20200101', '20400101']): Identity {
    this.#key('server.key')
    this.#openssl('req -new -key server.key -subj /CN=server -out request')
    writeFileSync(join(this.folder, 'names'), `subjectAltName=${name}`)
    // `openssl ca` alone can date a certificate into the past
    writeFileSync(join(this.folder, 'index'), '')
    writeFileSync(
      join(this.folder, 'config'),
      `[ca]\ndefault_ca=x\n[x]\ndatabase=index\nrand_serial=yes\nnew_certs_dir=.\npolicy=p\n` +
        `default_md=sha256\nprivate_key=ca.key\ncertificate=ca\nunique_subject=no\n` +
        `[p]\ncommonName=supplied\n`,
    )
    const [from, to] = days.map((day) => `${day}000000Z`)
    this.#openssl(
      'ca -config config -batch -notext -in request -out server -extfile names ' +
        `-startdate ${from} -enddate ${to}`,
    )
    return { key: this.#read('server.key'), cert: this.#read('server') }
  }

  /** A certificate that vouches for itself alone. */
  selfSigned(name: string): Identity {
    this.#key('self.key')
    this.#openssl(
      `req -x509 -key self.key -subj /CN=self -days 2 -out self -addext subjectAltName=${name}`,
    )
    return { key: this.#read('self.key'), cert: this.#read('self') }
  }

  #key(file: string): void {
    this.#openssl(`ecparam -name prime256v1 -genkey -noout -out ${file}`)
  }

  #openssl(line: string): void {
    execFileSync('openssl', line.split(' '), { cwd: this.folder, stdio: 'pipe' })
  }

  #read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8')
  }
}
