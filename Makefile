# SPDX-License-Identifier: GPL-2.0-only
# LastRef: `make help` lists what can be done here.

KDIR ?= /lib/modules/$(shell uname -r)/build
version := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)

.DEFAULT_GOAL := help
.PHONY: help all modules clean-modules check check-long demo lint bench coverage shell install reload uninstall \
	clean

help: ## this list
	@echo "LastRef $(version), an RDMA stack whose devices can leave at any moment"
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1@\2/p' Makefile | column -t -s @
	@echo
	@echo "  KDIR=DIR    for all: the kernel to build for (now $(KDIR))"
	@echo "  KERNEL=6.1  for demo and shell: that kernel instead of 6.12"
	@echo "  ONLY=PART   for check: only the parts whose names match the pattern"

all: modules ## build the modules for the running kernel, or for the one in KDIR

modules:
	@scripts/modules $(KDIR)

clean-modules:
	@if [ -e $(KDIR)/Makefile ]; then $(MAKE) -C $(KDIR) M=$(CURDIR) clean; fi

check: ## run every test (as root on Debian 12; installs what it needs)
	@scripts/deps base && python3 scripts/check $(ONLY)

check-long: ## the same and the soaks, sweeps and slow checkers (hours)
	@scripts/deps base && python3 scripts/check --long $(ONLY)

demo: ## the main job, shown step by step in a virtual machine
	@scripts/demo $(KERNEL)

lint: ## checkpatch, sparse, W=1, clang, kernel-doc, shellcheck, pyflakes
	@scripts/deps base kernel lint kunit && scripts/lint

bench: ## figures beside the in-tree modules, on the same emulated HCAs (ONLY=SCENARIO for one)
	@scripts/bench $(ONLY)

coverage: ## line coverage of the KUnit suites
	@scripts/deps base kernel kunit && kunit/coverage

shell: ## a prompt on the machine of the demonstration
	@scripts/demo $(KERNEL) --prompt

install: ## install the modules by DKMS for the running kernel
	@scripts/dkms install

reload: ## put what is installed in the place of what runs, interfaces up or not
	@scripts/reload

uninstall: ## take them out again; the in-tree modules are back
	@scripts/dkms uninstall

clean: clean-modules ## remove what was built in this folder (the cache stays)
	rm -rf build
